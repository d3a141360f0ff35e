// German for the generator: an abstract sentence to its words.
#pragma once

#include <string>
#include <vector>

#include "data/synthetic/grammar_syntax.h"

namespace attn::grammar {

/// The words in order, punctuation apart, the first one capitalized.
std::vector<std::string> german_words(const Sentence& sentence);

}  // namespace attn::grammar
