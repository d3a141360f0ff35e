// German noun phrases for the generator, without relative clauses, which may follow the verb.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/synthetic/grammar_morphology.h"
#include "data/synthetic/grammar_syntax.h"

namespace attn::grammar {

using Words = std::vector<std::string>;

/// Appends words separated by single blanks.
void append(Words& words, std::string_view more);
void append(Words& words, const Words& more);

/// Gender and number of a phrase that has a noun.
Agreement agreement_of(const NounPhrase& phrase);

/// The phrase in a case. `negated` makes "kein" of "ein" and of no article.
Words noun_phrase(const NounPhrase& phrase, Case form, bool negated = false);

/// With preposition and article fused where they fuse: "im Haus".
Words prepositional_phrase(std::string_view preposition, Case form, const NounPhrase& object);
Words prepositional_phrase(const PrepositionalPhrase& phrase);

}  // namespace attn::grammar
