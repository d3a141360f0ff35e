#pragma once

#include <memory>
#include <string>

#include "data/tokenizer.h"
#include "data/word_vocabulary.h"

namespace attn::testing {

/// A vocabulary of the words of `list`, which spaces separate.
inline std::shared_ptr<const Tokenizer> word_tokenizer(const std::string& list) {
  std::string lines;
  for (const char c : list) lines += c == ' ' ? '\n' : c;
  return parse_word_vocabulary(lines + "\n", "words");
}

/// Words, and the symbols of trees.
inline const Tokenizers& word_tokenizers() {
  static const Tokenizers both{word_tokenizer("a b c d e f g h"),
                               word_tokenizer("S /S NP /NP VP /VP DT NN VB")};
  return both;
}

}  // namespace attn::testing
