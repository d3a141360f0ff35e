#include "eval/batched_search.h"

#include <algorithm>

#include "eval/transformer_decoder.h"

namespace attn {
namespace {

using Sources = std::span<const std::vector<int32_t>>;

/// The non-empty sources, longest first: neighbours in length end at about the same time.
std::vector<size_t> by_length(Sources sources) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() > sources[b].size(); });
  return order;
}

void search_batch(Transformer model, const Tokenizers& tokenizers, Sources sources,
                  const BatchedSearch& how, SearchBatch batch,
                  std::vector<std::vector<Hypothesis>>& out) {
  SearchConfig search = how.search;
  if (model->config().position == Position::learned) {
    const auto longest = static_cast<int64_t>(sources[batch.members.front()].size());
    search.extra_length = std::min(search.extra_length, model->config().max_positions - longest);
  }
  std::vector<int64_t> tokens, lengths, inputs;
  for (const size_t i : batch.members) {
    const auto length = static_cast<int64_t>(sources[i].size());
    tokens.insert(tokens.end(), sources[i].begin(), sources[i].end());
    tokens.push_back(tokenizers.source->eos());
    lengths.push_back(length + 1);
    const int64_t least = how.least_limits.empty() ? 1 : how.least_limits.at(i);
    inputs.push_back(std::max(length, least - search.extra_length));
    batch.limits.push_back(output_limit(inputs.back(), search));
  }
  const auto constraint = how.constraint ? how.constraint(batch) : nullptr;
  TransformerStepDecoder decoder(model, token_sequences(tokens, lengths, model->device()),
                                 constraint.get());
  const Tokenizer& target = *tokenizers.target;
  auto found = beam_search(decoder, inputs, search, target.bos(), target.eos());
  for (size_t b = 0; b < batch.members.size(); ++b) out[batch.members[b]] = std::move(found[b]);
}

}  // namespace

std::vector<std::vector<Hypothesis>> batched_search(Transformer model, const Tokenizers& tokenizers,
                                                    std::span<const std::vector<int32_t>> sources,
                                                    const BatchedSearch& how) {
  const torch::NoGradGuard no_grad;
  model->eval();
  std::vector<std::vector<Hypothesis>> out(sources.size());
  const std::vector<size_t> order = by_length(sources);
  for (size_t begin = 0; begin < order.size();) {
    const auto longest = static_cast<int64_t>(sources[order[begin]].size()) + 1;
    const int64_t fit = std::max<int64_t>(1, how.batch_tokens / (longest * how.search.beam));
    const size_t end = std::min(order.size(), begin + static_cast<size_t>(fit));
    SearchBatch batch;
    batch.members.assign(order.begin() + static_cast<int64_t>(begin),
                         order.begin() + static_cast<int64_t>(end));
    search_batch(model, tokenizers, sources, how, std::move(batch), out);
    begin = end;
  }
  return out;
}

}  // namespace attn
