// The tokenizer of TER.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Options of Tercom's tokenizer, with sacreBLEU's names.
struct TerOptions {
  bool case_sensitive = false;  ///< false: lowercase first
  bool normalized = false;      ///< split punctuation, decode XML entities
  bool no_punct = false;        ///< remove . , ? : ; ! " ( )
  bool asian_support = false;   ///< with the two before: Chinese and Japanese characters too

  bool operator==(const TerOptions&) const = default;
};

/// The tokens of a line, separated by white space: equal to sacreBLEU 2.x after str.split().
/// Trailing white space is dropped first. `line` should be UTF-8; never throws.
std::string ter_tokenize(std::string_view line, const TerOptions& options);

}  // namespace attn
