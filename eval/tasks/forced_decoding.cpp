#include "eval/tasks/forced_decoding.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/stop_signal.h"
#include "data/batch.h"
#include "data/source_features.h"
#include "data/tokenizer.h"

namespace attn {
namespace {

constexpr int64_t kRowsAtOnce = 512;  // rows of logits at a time

void decode_batch(const Ensemble& models, const Tokenizers& tokenizers,
                  std::span<const ScoredPair> pairs, std::span<const size_t> members,
                  std::vector<std::vector<float>>& out) {
  std::vector<ScoredPair> chosen_pairs;
  for (const size_t i : members) chosen_pairs.push_back(pairs[i]);
  const auto [source, target_in, targets_N] =
      forced_batch(chosen_pairs, tokenizers, models.device());
  const auto rows_ND = models.forward(source, target_in);
  std::vector<torch::Tensor> chunks;
  for (int64_t begin = 0; begin < targets_N.size(0); begin += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, targets_N.size(0) - begin);
    const torch::Tensor log_probs = models.project(rows_ND, begin, count).log_softmax(-1);
    const torch::Tensor chosen = targets_N.narrow(0, begin, count).unsqueeze(1);
    chunks.push_back(log_probs.gather(1, chosen).squeeze(1));
  }
  const torch::Tensor all_N = torch::cat(chunks).cpu();
  const float* at = all_N.const_data_ptr<float>();
  for (const size_t i : members) {
    const float* end = at + pairs[i].target.size() + 1;
    out[i].assign(at, end);
    at = end;
  }
}

}  // namespace

ForcedBatch forced_batch(std::span<const ScoredPair> pairs, const Tokenizers& tokenizers,
                         torch::Device device) {
  TokenRows source, target_in;
  std::vector<int64_t> target_out;
  for (const ScoredPair& pair : pairs) {
    append_source(pair.source, tokenizers.source->eos(), pair.features, source);
    std::vector<int64_t> in = {tokenizers.target->bos()};
    in.insert(in.end(), pair.target.begin(), pair.target.end());
    target_in.tokens.insert(target_in.tokens.end(), in.begin(), in.end());
    target_out.insert(target_out.end(), pair.target.begin(), pair.target.end());
    target_out.push_back(tokenizers.target->eos());
    target_in.lengths.push_back(static_cast<int64_t>(in.size()));
  }
  return {.source = token_sequences(source, device),
          .target_in = token_sequences(target_in, device),
          .targets_N = int64_tensor(target_out, device)};
}

ScoredPair scored_pair(const Tokenizers& tokenizers, const std::string& source,
                       const std::string& target) {
  ScoredPair pair{tokenizers.source->encode(source), tokenizers.target->encode(target)};
  if (tokenizers.features) {
    pair.features = tokenizers.features->encode(source, static_cast<int64_t>(pair.source.size()));
  }
  return pair;
}

void require_fits(const ScoredPair& pair, std::optional<int64_t> positions,
                  const PairPlaces& places) {
  const auto check = [&](size_t tokens, const std::string& place) {
    const int64_t length = static_cast<int64_t>(tokens) + 1;
    if (!positions || length <= *positions) return;
    throw DataError(place + ": " + std::to_string(length) +
                    " tokens with EOS, but the model has only " + std::to_string(*positions) +
                    " positions (model.max_positions); shorten the line");
  };
  check(pair.source.size(), places.source);
  check(pair.target.size(), places.target);
}

std::vector<std::vector<float>> forced_log_probs(const Ensemble& models,
                                                 const Tokenizers& tokenizers,
                                                 std::span<const ScoredPair> pairs,
                                                 int64_t batch_tokens) {
  const torch::NoGradGuard no_grad;
  models.eval();
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::less(), [&](size_t i) {
    return std::pair(pairs[i].target.size(), pairs[i].source.size());
  });
  std::vector<std::vector<float>> out(pairs.size());
  for (size_t begin = 0; begin < order.size();) {
    throw_if_stopped();
    size_t end = begin;
    for (int64_t tokens = 0; end < order.size(); ++end) {
      const ScoredPair& pair = pairs[order[end]];
      tokens += static_cast<int64_t>(std::max(pair.source.size(), pair.target.size())) + 1;
      if (tokens > batch_tokens && end > begin) break;
    }
    decode_batch(models, tokenizers, pairs, std::span(order).subspan(begin, end - begin), out);
    begin = end;
  }
  return out;
}

double total_log_prob(std::span<const float> log_probs) {
  return std::accumulate(log_probs.begin(), log_probs.end(), 0.0);
}

}  // namespace attn
