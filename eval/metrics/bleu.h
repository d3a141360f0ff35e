// Corpus and sentence BLEU (Papineni et al., 2002), equal to sacreBLEU 2.x: a pure function of
// text.
//
// The published scores of the field are all this one function with different options:
//   sacreBLEU            the defaults, on raw text
//   multi-bleu           tokenizer none, smoothing none, on tokenized text
//   the 2017 paper       tokenizer compound, smoothing none, on tokenized text
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "eval/metrics/bleu_tokenize.h"

namespace attn {

/// What is done about an n-gram order without a single match (Chen and Cherry, 2014); matters for
/// small corpora alone.
enum class BleuSmoothing {
  exp,    ///< the k-th such order counts 1 / 2^k matches: mteval-v13a's and sacreBLEU's default
  floor,  ///< such an order counts `smoothing_value` matches (0.1)
  add_k,  ///< `smoothing_value` (1) is added to matches and totals of the orders above 1
  none,   ///< such an order makes the score 0
};

template <>
struct EnumNames<BleuSmoothing> {
  static constexpr auto values = std::to_array<EnumName<BleuSmoothing>>({
      {BleuSmoothing::exp, "exp"},
      {BleuSmoothing::floor, "floor"},
      {BleuSmoothing::add_k, "add-k"},
      {BleuSmoothing::none, "none"},
  });
};

/// Everything that changes a score, all of it in the signature.
struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  /// Of floor and add-k; without one, their default.
  std::optional<double> smoothing_value = std::nullopt;
  /// Leave out the orders that the hypothesis is too short for.
  bool effective_order = false;

  bool operator==(const BleuOptions&) const = default;

  /// Throws ConfigError when the smoothing value is not a finite number >= 0 or its method takes
  /// none.
  void validate() const;
};

inline constexpr int64_t bleu_order = 4;  ///< longest n-gram

/// Sufficient statistics: those of a corpus are the sum of its sentences', which resampling is
/// built on.
struct BleuStatistics {
  /// Hypothesis n-grams found in a reference, clipped to its most; n = 1 first.
  std::array<int64_t, bleu_order> counts{};
  /// Hypothesis n-grams.
  std::array<int64_t, bleu_order> totals{};
  /// Words of the hypothesis.
  int64_t hyp_length = 0;
  /// Words of the reference that is closest in length, the shorter of two as close.
  int64_t ref_length = 0;

  BleuStatistics& operator+=(const BleuStatistics& other);
  bool operator==(const BleuStatistics&) const = default;
};

/// A score and all that it was made of.
struct BleuScore {
  double score = 0;                             ///< 0 to 100
  std::array<int64_t, bleu_order> counts{};     ///< as in the statistics, before smoothing
  std::array<int64_t, bleu_order> totals{};     ///< as in the statistics, before smoothing
  std::array<double, bleu_order> precisions{};  ///< percent, smoothed; all 0 when nothing matches
  double bp = 1;                                ///< brevity penalty, 0 to 1
  int64_t hyp_length = 0;
  int64_t ref_length = 0;
  std::string signature;
};

/// Statistics of one sentence against its references, of which there is at least one. Throws
/// DataError without one.
BleuStatistics sentence_bleu_statistics(std::string_view hypothesis,
                                        std::span<const std::string> references,
                                        const BleuOptions& options = {});

/// Statistics of each sentence; `references[r][i]` is the r-th reference of `hypotheses[i]`.
/// Throws DataError when there is no reference or the numbers of sentences differ.
std::vector<BleuStatistics> bleu_statistics(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const BleuOptions& options = {});

/// The statistics of the corpus that the sentences make up.
BleuStatistics sum_of(std::span<const BleuStatistics> sentences);

/// BLEU = bp · exp(mean over n of log precision_n), bp = min(1, exp(1 - ref_length / hyp_length)).
/// `references` is how many there were a sentence, for the signature. Throws ConfigError
/// (BleuOptions::validate).
BleuScore bleu_from_statistics(const BleuStatistics& statistics, const BleuOptions& options,
                               int64_t references);

/// BLEU of a corpus; throws as bleu_statistics does. A corpus of no sentences scores 0.
BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const BleuOptions& options = {});

/// BLEU of one sentence, by default over its effective orders, as sacreBLEU's sentence_bleu.
BleuScore sentence_bleu(std::string_view hypothesis, std::span<const std::string> references,
                        const BleuOptions& options = {.effective_order = true});

/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-0.1.0", in sacreBLEU's form.
std::string bleu_signature(const BleuOptions& options, int64_t references);

/// sacreBLEU's line: "BLEU|SIGNATURE = 28.30 59.9/34.0/21.8/14.4 (BP = 1.000 ratio = 1.026
/// hyp_len = 62873 ref_len = 61287)".
std::string format_bleu(const BleuScore& score);

/// Whether 100 hypotheses or more end in " .": sacreBLEU's sign that text was tokenized before 13a
/// or intl does it again, which gives scores that compare with nobody's.
bool looks_tokenized(std::span<const std::string> hypotheses);

}  // namespace attn
