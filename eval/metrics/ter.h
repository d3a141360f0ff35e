// Translation edit rate (Snover et al., 2006), identical to sacreBLEU 2.x, which follows Tercom.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Options of Tercom's tokenizer, with sacreBLEU's names.
struct TerOptions {
  static constexpr const char* kMetric = "TER";

  bool case_sensitive = false;  ///< false: lowercase first
  bool normalized = false;      ///< split punctuation, decode XML entities
  bool no_punct = false;        ///< remove . , ? : ; ! " ( )
  bool asian_support = false;   ///< with the two before: Chinese and Japanese characters too

  void validate() const;
  bool operator==(const TerOptions&) const = default;
};

/// The tokens of a line, separated by white space: equal to sacreBLEU 2.x after str.split().
/// Trailing white space is dropped first. `line` should be UTF-8; never throws.
std::string ter_tokenize(std::string_view line, const TerOptions& options);

/// Sufficient statistics: those of a corpus are the sums over its sentences.
struct TerStatistics {
  double edits = 0;       ///< against the reference that needs the fewest: shifts and word edits
  double ref_length = 0;  ///< mean length of the references

  TerStatistics& operator+=(const TerStatistics& other);
  bool operator==(const TerStatistics&) const = default;
};

struct TerScore : TerStatistics {
  double score = 0;  ///< percent of the reference length; 0 is best, above 100 is possible
  std::string signature;
};

/// Edits that turn the hypothesis into the reference: insertions, deletions, substitutions and
/// shifts of up to 10 words over up to 50 positions, found greedily by Tercom's rules. Words are
/// given as numbers, equal for equal words.
int64_t translation_edits(std::span<const uint32_t> hypothesis,
                          std::span<const uint32_t> reference);

/// Statistics of one sentence; `references` must not be empty.
TerStatistics sentence_statistics(std::string_view hypothesis,
                                  std::span<const std::string> references,
                                  const TerOptions& options);

/// 100 × edits / ref_length; 100 against empty references, 0 if both are empty. `references`:
/// number per sentence, for the signature.
TerScore score_of(const TerStatistics& statistics, const TerOptions& options, int64_t references);

/// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:attn-0.1.0", in sacreBLEU's form.
std::string ter_signature(const TerOptions& options, int64_t references);

/// "TER|SIGNATURE = 45.67".
std::string format_score(const TerScore& score);

}  // namespace attn
