#include "eval/search/sample_search.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace attn {
namespace {

/// One sample being drawn.
struct Sample {
  int64_t sentence;
  int64_t row;  ///< row of the current step
  Random random;
  Hypothesis output;
};

class Sampling {
 public:
  Sampling(StepSampler& sampler, std::span<const int64_t> source_lengths,
           std::span<const uint64_t> streams, const SearchConfig& config, int32_t bos, int32_t eos)
      : sampler_(sampler), config_(config), eos_(eos), ended_(source_lengths.size()) {
    for (size_t i = 0; i < source_lengths.size(); ++i) {
      const auto sentence = static_cast<int64_t>(i);
      limits_.push_back(output_limit(source_lengths[i], config));
      parents_.push_back(sentence);
      sentences_.push_back(sentence);
      tokens_.push_back(bos);
      Random seeds(static_cast<uint64_t>(config.seed), streams[i]);
      for (int64_t s = 0; s < config.samples; ++s) {
        active_.push_back({sentence, sentence, Random(seeds.next()), {}});
      }
    }
  }

  void run() {
    for (int64_t length = 1; !active_.empty(); ++length) {
      draws_.clear();
      for (Sample& sample : active_) draws_.push_back({sample.row, sample.random.uniform()});
      sampler_.step({parents_, tokens_, sentences_}, draws_, drawn_);
      advance(length);
      make_rows();
    }
  }

  std::vector<std::vector<Hypothesis>> best() && {
    for (auto& outputs : ended_) {
      // Ties are ordered by tokens, since the order of ending depends on the rows.
      std::stable_sort(outputs.begin(), outputs.end(),
                       [](const Hypothesis& a, const Hypothesis& b) {
                         return a.score != b.score ? a.score > b.score : a.tokens < b.tokens;
                       });
      outputs.resize(std::min(outputs.size(), static_cast<size_t>(config_.nbest)));
    }
    return std::move(ended_);
  }

 private:
  void advance(int64_t length) {
    for (size_t i = 0; i < active_.size(); ++i) {
      Sample& sample = active_[i];
      if (drawn_[i].token < 0) {
        end(sample, length - 1, false);
        continue;
      }
      sample.output.log_prob += drawn_[i].log_prob;
      if (drawn_[i].token == eos_) {
        end(sample, length, true);
        continue;
      }
      sample.output.tokens.push_back(drawn_[i].token);
      if (length == limits_[static_cast<size_t>(sample.sentence)]) end(sample, length, false);
    }
    std::erase_if(active_, [](const Sample& sample) { return sample.row < 0; });
  }

  void end(Sample& sample, int64_t length, bool finished) {
    Hypothesis& output = sample.output;
    output.finished = finished;
    output.score = output.log_prob / length_penalty(config_, std::max<int64_t>(1, length));
    ended_[static_cast<size_t>(sample.sentence)].push_back(std::move(output));
    sample.row = -1;
  }

  /// The rows of the next step: one for each different prefix.
  void make_rows() {
    std::stable_sort(active_.begin(), active_.end(), [](const Sample& a, const Sample& b) {
      if (a.row != b.row) return a.row < b.row;
      return a.output.tokens.back() < b.output.tokens.back();
    });
    parents_.clear();
    tokens_.clear();
    sentences_.clear();
    for (Sample& sample : active_) {
      const int32_t token = sample.output.tokens.back();
      if (parents_.empty() || parents_.back() != sample.row || tokens_.back() != token) {
        parents_.push_back(sample.row);
        tokens_.push_back(token);
        sentences_.push_back(sample.sentence);
      }
      sample.row = static_cast<int64_t>(parents_.size()) - 1;
    }
  }

  StepSampler& sampler_;
  const SearchConfig& config_;
  const int32_t eos_;
  std::vector<int64_t> limits_;
  std::vector<Sample> active_;  // sorted by row
  std::vector<std::vector<Hypothesis>> ended_;
  std::vector<int64_t> parents_, sentences_;  // one per row
  std::vector<int32_t> tokens_;
  std::vector<Draw> draws_;
  std::vector<DrawnToken> drawn_;
};

}  // namespace

SamplingSet::SamplingSet(std::span<const float> probabilities, int64_t top_k, double top_p) {
  const double total = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  // Tokens below this share are outside of the nucleus even all together.
  const double threshold =
      top_k == 0 ? (1 - top_p) * total / static_cast<double>(probabilities.size()) : 0.0;
  for (size_t token = 0; token < probabilities.size(); ++token) {
    if (probabilities[token] > 0 && probabilities[token] >= threshold) {
      tokens_.push_back(static_cast<int32_t>(token));
    }
  }
  const auto likelier = [&](int32_t a, int32_t b) {
    const float p = probabilities[static_cast<size_t>(a)],
                q = probabilities[static_cast<size_t>(b)];
    return p != q ? p > q : a < b;
  };
  const bool all = top_k == 0 || top_k >= static_cast<int64_t>(tokens_.size());
  const auto end = all ? tokens_.end() : tokens_.begin() + top_k;
  if (!all || top_p < 1) std::partial_sort(tokens_.begin(), end, tokens_.end(), likelier);
  tokens_.erase(end, tokens_.end());
  double kept = top_k == 0 ? total : 0.0;
  if (top_k > 0) {
    for (const int32_t token : tokens_) kept += probabilities[static_cast<size_t>(token)];
  }
  double sum = 0.0;
  for (const int32_t token : tokens_) {
    cumulative_.push_back(sum += probabilities[static_cast<size_t>(token)]);
    if (top_p < 1 && sum >= top_p * kept) break;
  }
  tokens_.resize(cumulative_.size());
}

int32_t SamplingSet::draw(double uniform) const {
  if (tokens_.empty()) return -1;
  const auto at =
      std::upper_bound(cumulative_.begin(), cumulative_.end(), uniform * cumulative_.back());
  const auto last = static_cast<std::ptrdiff_t>(tokens_.size()) - 1;
  return tokens_[static_cast<size_t>(std::min(at - cumulative_.begin(), last))];
}

std::vector<std::vector<Hypothesis>> sample_search(StepSampler& sampler,
                                                   std::span<const int64_t> source_lengths,
                                                   std::span<const uint64_t> streams,
                                                   const SearchConfig& config, int32_t bos,
                                                   int32_t eos) {
  config.validate();
  Sampling sampling(sampler, source_lengths, streams, config, bos, eos);
  sampling.run();
  return std::move(sampling).best();
}

}  // namespace attn
