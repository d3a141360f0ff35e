// Batched beam search (section 6.1), independent of models and tensors: a StepDecoder provides the
// candidates.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/search/config.h"
#include "model/step_rows.h"

namespace attn {

/// The top continuations of each row of a step: [rows × per_row], each row sorted best first,
/// without duplicates. log_probs are log p(token | prefix). Continuations of -inf or NaN are never
/// selected, so a decoder forbids a token with -inf (or by omitting it).
struct Candidates {
  int64_t per_row = 0;
  std::vector<int32_t> tokens;
  std::vector<float> log_probs;
};

/// Scores continuations, keeping the state of its rows between steps.
class StepDecoder {
 public:
  virtual ~StepDecoder() = default;
  /// One decoding step; the tokens of the first are BOS, and finished sentences have no rows. Fills
  /// `out` with the top `candidates` continuations of each row, or the whole vocabulary if that is
  /// smaller.
  virtual void step(const StepRows& rows, int64_t candidates, Candidates& out) = 0;
};

struct Hypothesis {
  std::vector<int32_t> tokens;  ///< without BOS and EOS
  double log_prob = 0.0;        ///< sum over all tokens, EOS included
  double score = 0.0;           ///< log_prob / length_penalty(length with EOS)
  bool finished = false;        ///< ended with EOS; false: truncated at the length limit
};

/// Length limit of the output, EOS included, for an input of `source_length` tokens.
int64_t output_limit(int64_t source_length, const SearchConfig& config);

/// The n-best hypotheses of each sentence, best first: at least one, at most `nbest`, all
/// different. An output has at most output_limit(source_lengths[i], config) tokens and no BOS,
/// unless BOS is EOS. Hypotheses that the limit cuts compete with finished ones by score, without
/// the probability of EOS; those without any allowed continuation are returned only if their
/// sentence has no finished one.
///
/// Each step selects the 2 × beam best continuations of a sentence: at most `beam` of them are EOS,
/// so at least `beam` stay active. With config.prune > 0 those that are worse than the step's best
/// by more than config.prune are dropped (relative threshold pruning: Freitag and Al-Onaizan,
/// 2017). Ties are ordered by row, then by token, so results do not depend on the batch. Throws
/// ConfigError for an invalid config.
std::vector<std::vector<Hypothesis>> beam_search(StepDecoder& decoder,
                                                 std::span<const int64_t> source_lengths,
                                                 const SearchConfig& config, int32_t bos,
                                                 int32_t eos);

/// Sentences finished by search in this process, over all threads, for progress displays.
inline std::atomic<int64_t> searched_sentences = 0;

}  // namespace attn
