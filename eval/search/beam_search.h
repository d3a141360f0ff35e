// Batched beam search (section 6.1) over whatever can tell the best continuations of a prefix: it
// knows nothing of models or tensors, so that tests drive it with a hand-made distribution.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/search/config.h"

namespace attn {

/// For each of the step's rows, its best continuations: [rows × per_row], each row sorted best
/// first, no token twice in a row. Log-probabilities are of the token given its prefix, at most 0.
/// A continuation of -inf or NaN is never taken, so a decoder forbids a token by giving it -inf (or
/// leaving it out).
struct Candidates {
  int64_t per_row = 0;
  std::vector<int32_t> tokens;
  std::vector<float> log_probs;
};

/// The model, as search sees it: remembers the prefixes of its rows from step to step.
class StepDecoder {
 public:
  virtual ~StepDecoder() = default;
  /// Advances one position. Row i of the new step continues row parents[i] of the previous one with
  /// tokens[i]; the rows of a sentence are contiguous and its sentences[i] is its index in the
  /// batch. At the first step there is one row a sentence, parents is the identity and all tokens
  /// are bos. Later the rows of finished sentences are gone. Fills `out` with each row's
  /// `candidates` best continuations, or with the whole vocabulary where that is smaller.
  virtual void step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
                    std::span<const int64_t> sentences, int64_t candidates, Candidates& out) = 0;
};

struct Hypothesis {
  std::vector<int32_t> tokens;  ///< without bos and eos
  double log_prob = 0.0;        ///< of all tokens, eos too
  double score = 0.0;           ///< log_prob / length_penalty(tokens and eos)
  bool finished = false;        ///< ended by eos; otherwise cut at the limit
};

/// The most tokens, eos counted, in the output for an input of so many tokens.
int64_t output_limit(int64_t source_length, const SearchConfig& config);

/// For each sentence its best hypotheses, best first: at least one, at most `nbest`, all different.
/// The output has at most output_limit(source_lengths[i], config) tokens: extra_length more than
/// the input, and always room for 1. Hypotheses that met the limit, or that the decoder gave no
/// possible continuation, are returned only for a sentence in which none has finished.
///
/// Each step takes a sentence's 2 × beam best continuations: at most `beam` of them are eos, so
/// `beam` others are left to go on. Equal log-probabilities are ordered by row, then by token, so
/// results do not depend on the batch. Throws ConfigError for a bad config and
/// std::invalid_argument for a decoder whose answer has the wrong size.
std::vector<std::vector<Hypothesis>> beam_search(StepDecoder& decoder,
                                                 std::span<const int64_t> source_lengths,
                                                 const SearchConfig& config, int32_t bos,
                                                 int32_t eos);

}  // namespace attn
