// German word forms for the generator: articles, adjective endings, nouns and verbs.
#pragma once

#include <string>
#include <string_view>

#include "data/synthetic/grammar_lexicon.h"

namespace attn::grammar {

/// Gender and number that articles and adjectives agree with.
struct Agreement {
  Gender gender = Gender::masculine;
  Number number = Number::singular;
};

/// The declension of an adjective, by the preceding determiner.
enum class Declension {
  weak,    ///< after der, dieser, jeder
  mixed,   ///< after ein, kein, mein
  strong,  ///< after no article, a numeral, viele, Annas, dessen
};

/// der, die, das, den, dem, des.
std::string_view definite_article(Case form, Agreement agreement);
/// "dies" or "jed" with its ending.
std::string der_word(std::string_view stem, Case form, Agreement agreement);
/// "ein", "kein", "mein" or "unser" with its ending.
std::string ein_word(std::string_view stem, Case form, Agreement agreement);
/// der, die, das, den, dem, denen, dessen, deren.
std::string_view relative_pronoun(Case form, Agreement agreement);
/// er, sie, es and their cases, for something named before.
std::string_view personal_pronoun(Case form, Agreement agreement);
/// The attributive form of an adjective.
std::string adjective_form(const Adjective& adjective, Declension declension, Case form,
                           Agreement agreement);
/// The form of a noun.
std::string noun_form(const Noun& noun, Case form, Number number);
/// The contraction of preposition and article, "im" for "in dem"; empty if there is none.
std::string_view fused_preposition(std::string_view preposition, Case form, Agreement agreement);
/// The finite form, without a separable prefix. A plural "you" does not occur.
std::string finite_form(const GermanVerb& verb, Person person, Number number, bool past);
/// "darf" for "must not", else the verb's own.
std::string modal_form(const Modal& modal, Person person, Number number, bool negated);

}  // namespace attn::grammar
