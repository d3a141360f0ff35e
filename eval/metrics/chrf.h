// Corpus and sentence chrF (Popović, 2015) and chrF++ (Popović, 2017), identical to sacreBLEU 2.x.
//
//   chrF2      the defaults: character n-grams up to 6, β 2
//   chrF2++    word_order 2: word n-grams up to 2 as well
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// All options that change the score; they are part of the signature.
struct ChrfOptions {
  static constexpr const char* kMetric = "chrF";

  int64_t char_order = 6;  ///< longest character n-gram
  int64_t word_order = 0;  ///< longest word n-gram
  int64_t beta = 2;        ///< weight of recall over precision
  bool lowercase = false;
  bool whitespace = false;  ///< include white space in character n-grams
  /// False: average precision and recall over the orders not longer than hypothesis and reference.
  /// True: average the F-scores of all orders, as chrF++.py, NLTK and Moses do.
  bool eps_smoothing = false;

  bool operator==(const ChrfOptions&) const = default;

  /// Throws ConfigError naming the first option that is out of range.
  void validate() const;
};

/// Counts of one n-gram order.
struct ChrfCounts {
  int64_t hypothesis = 0;  ///< n-grams of the hypothesis; 0 where the reference has none
  int64_t reference = 0;   ///< n-grams of the reference
  int64_t matches = 0;     ///< n-grams of the hypothesis found in the reference, clipped

  bool operator==(const ChrfCounts&) const = default;
};

/// Sufficient statistics, character orders first: those of a corpus are the sums over its
/// sentences.
struct ChrfStatistics {
  std::vector<ChrfCounts> orders;

  ChrfStatistics& operator+=(const ChrfStatistics& other);
  bool operator==(const ChrfStatistics&) const = default;
};

struct ChrfScore {
  double score = 0;  ///< 0 to 100
  std::string name;  ///< "chrF2", "chrF2++"
  std::string signature;
};

/// Statistics of one sentence against its best-scoring reference, the first in case of ties;
/// `references` must not be empty.
ChrfStatistics sentence_statistics(std::string_view hypothesis,
                                   std::span<const std::string> references,
                                   const ChrfOptions& options);

/// F_β of precision and recall over all orders, in percent. `references`: number per
/// sentence, for the signature. Throws ConfigError (ChrfOptions::validate).
ChrfScore score_of(const ChrfStatistics& statistics, const ChrfOptions& options,
                   int64_t references);

/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-0.1.0", in sacreBLEU's form, with
/// "beta:3" before the version where β is not 2.
std::string chrf_signature(const ChrfOptions& options, int64_t references);

/// "chrF2|SIGNATURE = 54.32".
std::string format_score(const ChrfScore& score);

}  // namespace attn
