// Tokenizers of BLEU.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/enum_names.h"

namespace attn {

/// Tokenization before n-grams are counted.
enum class BleuTokenizer {
  v13a,       ///< mteval-v13a's rules for Western languages: sacreBLEU's default
  none,       ///< white space only, for tokenized text (multi-bleu)
  intl,       ///< mteval-v14's international rules, by Unicode category
  character,  ///< every character is a token
  compound,   ///< white space, and hyphenated words split: the paper's scores, on tokenized text
};

template <>
struct EnumNames<BleuTokenizer> {
  static constexpr auto values = std::to_array<EnumName<BleuTokenizer>>({
      {BleuTokenizer::v13a, "13a"},
      {BleuTokenizer::none, "none"},
      {BleuTokenizer::intl, "intl"},
      {BleuTokenizer::character, "char"},
      {BleuTokenizer::compound, "compound"},
  });
};

/// Tokenizes a line: its tokens separated by white space, equal to sacreBLEU 2.x after str.split()
/// ("compound" is not in sacreBLEU). Trailing white space is dropped first. `line` should be UTF-8;
/// never throws.
std::string bleu_tokenize(std::string_view line, BleuTokenizer tokenizer);

/// The compound splitting of the paper's evaluation script: `(\S)-(\S)` becomes
/// `$1 ##AT##-##AT## $2`. A match consumes both neighbours, so "a-b-c" is split only at its first
/// hyphen.
std::string split_compounds(std::string_view line);

}  // namespace attn
