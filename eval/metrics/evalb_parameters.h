// Parameter files of EVALB, such as COLLINS.prm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn {

/// EVALB parameters. The default deletes nothing; see `collins_parameters`.
struct EvalbParameters {
  using Labels = std::set<std::string, std::less<>>;
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  std::string name = "none";   ///< in the signature: "default", or the file's name and a hash
  int64_t cutoff_length = 40;  ///< CUTOFF_LEN: the second summary is over sentences up to this
  bool labelled = true;        ///< LABELED: whether labels must match
  /// DELETE_LABEL: ignored word tags and bracket labels (not the content of the brackets).
  Labels delete_labels;
  Labels delete_labels_for_length;  ///< DELETE_LABEL_FOR_LENGTH: tags not counted in the length
  /// QUOTE_LABEL: tags under which ' " / may be a quotation mark (deleted) in one tree and a word
  /// in the other. The deleted mark is restored before lengths are compared.
  Labels quote_labels;
  Pairs equal_labels;  ///< EQ_LABEL: both ways, not transitive
  Pairs equal_words;   ///< EQ_WORD: the same for words

  /// Whether two labels (or tags) are equal.
  bool same_label(std::string_view a, std::string_view b) const;
  /// Whether two words are equal.
  bool same_word(std::string_view a, std::string_view b) const;
};

/// The settings of COLLINS.prm: ignores punctuation, traces and TOP; ADVP = PRT. "default" in
/// signatures.
EvalbParameters collins_parameters();

/// Parses a parameter file; `name` is for messages and the signature. DEBUG and MAX_ERROR are
/// checked but have no effect. Throws ConfigError with name:line for unknown keywords (EVALB
/// ignores them) and for missing or invalid values.
EvalbParameters parse_evalb_parameters(std::string_view text, const std::string& name);

/// Reads a parameter file; collins_parameters() for an empty path. Throws DataError if it cannot be
/// read, and like parse_evalb_parameters.
EvalbParameters read_evalb_parameters(const std::filesystem::path& path);

}  // namespace attn
