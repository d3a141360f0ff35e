#include "eval/search/batched_search.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string>

#include "base/stop_signal.h"
#include "data/batch.h"
#include "data/source_features.h"
#include "eval/search/sample_search.h"
#include "kernels/ops/top_k.h"

namespace attn {
namespace {

// On the CPU: vocabularies under a constraint are small.
torch::Tensor renormalized(const torch::Tensor& logits_RV, std::span<const uint64_t* const> allowed,
                           std::span<const uint64_t* const> groups) {
  const torch::Tensor out_RV = logits_RV.to(torch::kCPU, torch::kFloat32, false, true).contiguous();
  const auto size = static_cast<size_t>(out_RV.size(1));
  for (size_t row = 0; row < groups.size(); ++row) {
    if (groups[row] == nullptr) continue;
    renormalize(std::span(out_RV.data_ptr<float>() + row * size, size), allowed[row], groups[row]);
  }
  return out_RV;
}

class SessionDecoder : public StepDecoder {
 public:
  SessionDecoder(DecodeSession& session, TokenConstraint* constraint)
      : session_(session), constraint_(constraint) {}

  void step(const StepRows& rows, int64_t candidates, Candidates& out) override {
    throw_if_stopped();
    const torch::Tensor logits_RV = session_.step(rows);
    out.per_row = std::min<int64_t>(candidates, logits_RV.size(1));
    if (constraint_ == nullptr) {
      top_k(logits_RV, candidates, out.tokens, out.log_probs);
      return;
    }
    const auto allowed = constraint_->step(rows);
    const auto groups = constraint_->groups();
    top_k(groups.empty() ? logits_RV : renormalized(logits_RV, allowed, groups), candidates,
          out.tokens, out.log_probs, allowed);
  }

 private:
  DecodeSession& session_;
  TokenConstraint* constraint_;
};

// Sets the logits of tokens outside of the masks to -inf.
void forbid(torch::Tensor& logits_RV, std::span<const uint64_t* const> allowed) {
  const auto size = static_cast<size_t>(logits_RV.size(1));
  float* logit = logits_RV.data_ptr<float>();
  for (const uint64_t* mask : allowed) {
    for (size_t t = 0; t < size; ++t, ++logit) {
      if (!is_allowed(mask, t)) *logit = -std::numeric_limits<float>::infinity();
    }
  }
}

// Never draws BOS, unless it is EOS.
class SessionSampler : public StepSampler {
 public:
  SessionSampler(DecodeSession& session, TokenConstraint* constraint, const SearchConfig& config,
                 const Tokenizer& target)
      : session_(session), constraint_(constraint), config_(config), target_(target) {}

  void step(const StepRows& rows, std::span<const Draw> draws,
            std::vector<DrawnToken>& out) override {
    const torch::NoGradGuard no_grad;
    throw_if_stopped();
    const torch::Tensor logits_RV = session_.step(rows).to(torch::kCPU, torch::kFloat32);
    const torch::Tensor log_probs_RV = logits_RV.log_softmax(-1);
    torch::Tensor heated_RV = (log_probs_RV / config_.temperature).contiguous();
    if (constraint_ != nullptr) forbid(heated_RV, constraint_->step(rows));
    if (target_.bos() != target_.eos()) {
      heated_RV.select(1, target_.bos()).fill_(-std::numeric_limits<float>::infinity());
    }
    // Relative to the highest, which must not underflow.
    const torch::Tensor probs_RV = (heated_RV - heated_RV.amax(-1, true)).exp_();
    const auto size = static_cast<size_t>(probs_RV.size(1));
    const float* log_probs = log_probs_RV.const_data_ptr<float>();
    std::optional<SamplingSet> set;
    int64_t row = -1;
    out.clear();
    for (const Draw& draw : draws) {
      const auto begin = static_cast<size_t>(draw.row) * size;
      if (draw.row != row) {
        row = draw.row;
        set.emplace(std::span(probs_RV.const_data_ptr<float>() + begin, size), config_.top_k,
                    config_.top_p);
      }
      const int32_t token = set->draw(draw.uniform);
      out.push_back({token, token < 0 ? 0.0F : log_probs[begin + static_cast<size_t>(token)]});
    }
  }

 private:
  DecodeSession& session_;
  TokenConstraint* constraint_;
  const SearchConfig& config_;
  const Tokenizer& target_;
};

// The hypotheses of each sentence of a batch, by config.method: beam_search or sample_search with
// the session's logits. With a constraint forbidden tokens get -inf; allowed ones keep the model's
// log-probability or, within a group (TokenConstraint::groups), are renormalized; samples have no
// groups. `streams` as in sample_search.
std::vector<std::vector<Hypothesis>> search_session(
    DecodeSession& session, TokenConstraint* constraint, std::span<const int64_t> source_lengths,
    std::span<const uint64_t> streams, const SearchConfig& config, const Tokenizer& target) {
  if (config.method == SearchMethod::beam) {
    SessionDecoder decoder(session, constraint);
    return beam_search(decoder, source_lengths, config, target.bos(), target.eos());
  }
  SessionSampler sampler(session, constraint, config, target);
  return sample_search(sampler, source_lengths, streams, config, target.bos(), target.eos());
}

using Sources = std::span<const std::vector<int32_t>>;

/// The non-empty sources, longest first, so that a batch has similar lengths.
std::vector<size_t> by_length(Sources sources) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() > sources[b].size(); });
  return order;
}

// Length limit of a sentence's output, EOS included; independent of its batch.
int64_t limit_of(const Ensemble& models, const BatchedSearch& how, size_t sentence,
                 int64_t source_length) {
  int64_t limit = output_limit(source_length, how.search);
  if (const auto positions = models.max_length()) limit = std::min(limit, *positions);
  const int64_t min_limit = how.min_limits.empty() ? 1 : how.min_limits.at(sentence);
  return std::max(limit, min_limit);
}

void search_batch(const Ensemble& models, const Tokenizers& tokenizers, Sources sources,
                  const BatchedSearch& how, SearchBatch batch,
                  std::vector<std::vector<Hypothesis>>& out) {
  TokenRows source;
  std::vector<int64_t> inputs;
  std::vector<uint64_t> streams;
  for (const size_t i : batch.members) {
    append_source(sources[i], tokenizers.source->eos(),
                  how.features.empty() ? std::span<const int32_t>() : how.features.at(i), source);
    const auto length = static_cast<int64_t>(sources[i].size());
    batch.limits.push_back(limit_of(models, how, i, length));
    inputs.push_back(batch.limits.back() - how.search.extra_length);
    streams.push_back(static_cast<uint64_t>(how.first_sentence) + i);
  }
  const auto constraint = how.constraint ? how.constraint(batch) : nullptr;
  const auto session = how.inference->start(token_sequences(source, models.device()));
  auto found =
      search_session(*session, constraint.get(), inputs, streams, how.search, *tokenizers.target);
  for (size_t b = 0; b < batch.members.size(); ++b) out[batch.members[b]] = std::move(found[b]);
  searched_sentences += static_cast<int64_t>(batch.members.size());
}

// Batches of similar lengths, at least one per thread, unless they would be too small for
// efficient products.
std::vector<SearchBatch> batches_of(Sources sources, const BatchedSearch& how, int64_t threads,
                                    bool on_gpu) {
  constexpr int64_t kMinPart = 8;
  // A GPU's step takes the time of its launches, whatever the rows of a small batch.
  constexpr int64_t kOnGpu = 16;
  const int64_t batch_tokens = on_gpu ? kOnGpu * how.batch_tokens : how.batch_tokens;
  const std::vector<size_t> order = by_length(sources);
  const auto count = static_cast<int64_t>(order.size());
  const int64_t parts = std::clamp<int64_t>(count / kMinPart, 1, threads);
  const int64_t share = (count + parts - 1) / parts;
  std::vector<SearchBatch> batches;
  for (int64_t begin = 0; begin < count;) {
    const auto longest = static_cast<int64_t>(sources[order[begin]].size()) + 1;
    const int64_t fit = std::max<int64_t>(1, batch_tokens / (longest * how.search.hypotheses()));
    const int64_t end = std::min({count, begin + fit, begin + share});
    batches.emplace_back().members.assign(order.begin() + begin, order.begin() + end);
    begin = end;
  }
  return batches;
}

}  // namespace

std::vector<std::vector<Hypothesis>> batched_search(const Ensemble& models,
                                                    const Tokenizers& tokenizers,
                                                    std::span<const std::vector<int32_t>> sources,
                                                    const BatchedSearch& how) {
  models.eval();
  std::vector<std::vector<Hypothesis>> out(sources.size());
  const int64_t threads = models.device().is_cpu() ? at::get_num_threads() : 1;
  std::vector<SearchBatch> batches = batches_of(sources, how, threads, !models.device().is_cpu());
  std::atomic<size_t> next = 0;  // work queue, long batches first
  const auto work = [&](int64_t, int64_t) {
    const torch::NoGradGuard no_grad;
    for (size_t i = next++; i < batches.size(); i = next++) {
      search_batch(models, tokenizers, sources, how, std::move(batches[i]), out);
    }
  };
  if (batches.size() == 1) {
    work(0, 1);  // all threads in its products
  } else {
    at::parallel_for(0, std::min(threads, static_cast<int64_t>(batches.size())), 1, work);
  }
  return out;
}

void fill_nbest(std::vector<Hypothesis>& found, int64_t nbest) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  while (static_cast<int64_t>(found.size()) < nbest) {
    found.push_back({.tokens = {}, .log_prob = kNever, .score = kNever, .finished = false});
  }
}

SourceSentence encode_source(const Tokenizers& tokenizers, const std::string& line,
                             int64_t max_tokens) {
  SourceSentence source{.tokens = tokenizers.source->encode(line)};
  const auto length = static_cast<int64_t>(source.tokens.size());
  if (tokenizers.features) source.features = tokenizers.features->encode(line, length);
  source.truncated = length > max_tokens;
  if (!source.truncated) return source;
  source.tokens.resize(static_cast<size_t>(max_tokens));
  if (tokenizers.features) source.features = cut_features(source.features, max_tokens);
  return source;
}

}  // namespace attn
