// Corpus and sentence BLEU (Papineni et al., 2002), identical to sacreBLEU 2.x.
//
// Common BLEU scores as options of this function:
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

/// Smoothing of n-gram orders without matches (Chen and Cherry, 2014); matters for small corpora.
enum class BleuSmoothing {
  exp,    ///< the k-th such order counts 1 / 2^k matches: default of mteval-v13a and sacreBLEU
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

/// All options that change the score; they are part of the signature.
struct BleuOptions {
  static constexpr const char* kMetric = "BLEU";

  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  /// For floor and add-k; by default 0.1 and 1.
  std::optional<double> smoothing_value = std::nullopt;
  /// Ignore orders longer than the hypothesis.
  bool effective_order = false;

  bool operator==(const BleuOptions&) const = default;

  /// Throws ConfigError for an invalid smoothing value, or one that the method does not use.
  void validate() const;
};

inline constexpr int64_t bleu_order = 4;  ///< longest n-gram

/// Sufficient statistics: those of a corpus are the sums over its sentences.
struct BleuStatistics {
  /// Clipped n-gram matches; n = 1 first.
  std::array<int64_t, bleu_order> counts{};
  /// Hypothesis n-grams.
  std::array<int64_t, bleu_order> totals{};
  /// Words of the hypothesis.
  int64_t hyp_length = 0;
  /// Length of the reference closest in length; ties to the shorter.
  int64_t ref_length = 0;

  BleuStatistics& operator+=(const BleuStatistics& other);
  bool operator==(const BleuStatistics&) const = default;
};

/// A score and its components; the statistics are those before smoothing.
struct BleuScore : BleuStatistics {
  double score = 0;                             ///< 0 to 100
  std::array<double, bleu_order> precisions{};  ///< percent, smoothed; all 0 when nothing matches
  double bp = 1;                                ///< brevity penalty, 0 to 1
  std::string signature = {};
};

/// Statistics of one sentence; `references` must not be empty.
BleuStatistics sentence_statistics(std::string_view hypothesis,
                                   std::span<const std::string> references,
                                   const BleuOptions& options);

/// BLEU = bp · exp(mean over n of log precision_n), bp = min(1, exp(1 - ref_length / hyp_length)).
/// `references`: number per sentence, for the signature. Throws ConfigError
/// (BleuOptions::validate).
BleuScore score_of(const BleuStatistics& statistics, const BleuOptions& options,
                   int64_t references);

/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-0.1.0", in sacreBLEU's form.
std::string bleu_signature(const BleuOptions& options, int64_t references);

/// sacreBLEU's line: "BLEU|SIGNATURE = 28.30 59.9/34.0/21.8/14.4 (BP = 1.000 ratio = 1.026
/// hyp_len = 62873 ref_len = 61287)".
std::string format_score(const BleuScore& score);

/// Whether at least 100 hypotheses end in " .": sacreBLEU's heuristic for tokenized text, which
/// must not be tokenized again by 13a or intl.
bool looks_tokenized(std::span<const std::string> hypotheses);

}  // namespace attn
