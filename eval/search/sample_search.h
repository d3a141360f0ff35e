// Sampling of outputs, independent of models and tensors: a StepSampler draws the tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/search/beam_search.h"

namespace attn {

/// A draw from the continuations of row `row`; the same number gives the same token.
struct Draw {
  int64_t row;
  double uniform;  ///< in [0, 1)
};

struct DrawnToken {
  int32_t token;   ///< -1: the row has no allowed continuation
  float log_prob;  ///< log p(token | prefix) under the model, before temperature and truncation
};

/// Draws continuations, keeping the state of its rows between steps.
class StepSampler {
 public:
  virtual ~StepSampler() = default;
  /// One decoding step over rows as in StepDecoder::step. Fills `out` with a token for each draw;
  /// the draws are in the order of their rows.
  virtual void step(const StepRows& rows, std::span<const Draw> draws,
                    std::vector<DrawnToken>& out) = 0;
};

/// The tokens that sampling draws from, given the probabilities of all tokens (at any scale): the
/// `top_k` highest (0: all), and of these the fewest whose share is at least `top_p`; ties to the
/// smaller token. As in Fan et al. (2018) and Holtzman et al. (2020).
class SamplingSet {
 public:
  SamplingSet(std::span<const float> probabilities, int64_t top_k, double top_p);
  /// The token for a uniform number in [0, 1), with its probability renormalized; -1 if all
  /// probabilities are 0.
  int32_t draw(double uniform) const;
  /// Number of tokens that can be drawn.
  size_t size() const { return tokens_.size(); }

 private:
  std::vector<int32_t> tokens_;
  std::vector<double> cumulative_;
};

/// The nbest highest-scoring of the `samples` outputs drawn for each sentence, best first. Equal
/// samples are repeated. Length limits are those of beam_search. Sample s of a sentence depends on
/// the seed, on the sentence's number in `streams` and on s. Samples with the same prefix share a
/// row of the decoder. Throws ConfigError for an invalid config.
std::vector<std::vector<Hypothesis>> sample_search(StepSampler& sampler,
                                                   std::span<const int64_t> source_lengths,
                                                   std::span<const uint64_t> streams,
                                                   const SearchConfig& config, int32_t bos,
                                                   int32_t eos);

}  // namespace attn
