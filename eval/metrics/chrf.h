// Corpus and sentence chrF (Popović, 2015) and chrF++ (Popović, 2017), equal to sacreBLEU 2.x: a
// pure function of text.
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

/// Everything that changes a score, all of it in the signature.
struct ChrfOptions {
  int64_t char_order = 6;  ///< longest character n-gram
  int64_t word_order = 0;  ///< longest word n-gram
  int64_t beta = 2;        ///< recall counts β times as much as precision
  bool lowercase = false;
  bool whitespace = false;  ///< whether white space is a character of n-grams
  /// False: precision and recall are averaged over the orders that hypothesis and reference are
  /// long enough for. True: the F-scores of all orders are averaged, as in chrF++.py, NLTK and
  /// Moses.
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

/// Sufficient statistics, character orders first: those of a corpus are the sum of its sentences'.
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

/// Statistics of one sentence against that of its references which gives the best score, the first
/// of several as good. Throws DataError without a reference.
ChrfStatistics sentence_chrf_statistics(std::string_view hypothesis,
                                        std::span<const std::string> references,
                                        const ChrfOptions& options = {});

/// Statistics of each sentence; `references[r][i]` is the r-th reference of `hypotheses[i]`.
/// Throws DataError when there is no reference or the numbers of sentences differ.
std::vector<ChrfStatistics> chrf_statistics(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const ChrfOptions& options = {});

/// The statistics of the corpus that the sentences make up.
ChrfStatistics sum_of(std::span<const ChrfStatistics> sentences);

/// F_β of precision and recall over all orders, in percent. `references` is how many there were a
/// sentence, for the signature. Throws ConfigError (ChrfOptions::validate).
ChrfScore chrf_from_statistics(const ChrfStatistics& statistics, const ChrfOptions& options,
                               int64_t references);

/// chrF of a corpus; throws as chrf_statistics does. A corpus of no sentences scores 0.
ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const ChrfOptions& options = {});

/// chrF of one sentence.
ChrfScore sentence_chrf(std::string_view hypothesis, std::span<const std::string> references,
                        const ChrfOptions& options = {});

/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-0.1.0", in sacreBLEU's form, with
/// "beta:3" before the version where β is not 2.
std::string chrf_signature(const ChrfOptions& options, int64_t references);

/// "chrF2|SIGNATURE = 54.32".
std::string format_chrf(const ChrfScore& score);

}  // namespace attn
