#include "data/synthetic/grammar_german_nouns.h"

namespace attn::grammar {
namespace {

std::string_view pronoun_form(const Pronoun& pronoun, Case form) {
  switch (form) {
    case Case::accusative:
      return pronoun.accusative;
    case Case::dative:
      return pronoun.dative;
    case Case::nominative:
    case Case::genitive:
      break;
  }
  return pronoun.nominative;
}

// The article or what stands for it, and how the adjectives after it end. `negated` makes "ein" and
// no article "kein".
Declension append_determiner(Words& words, const NounPhrase& phrase, Case form, bool negated) {
  const Agreement agreement = agreement_of(phrase);
  const bool plural = phrase.number == Number::plural;
  switch (phrase.determiner) {
    case Determiner::definite:
      append(words, definite_article(form, agreement));
      return Declension::weak;
    case Determiner::demonstrative:
      append(words, der_word("dies", form, agreement));
      return Declension::weak;
    case Determiner::every:
      append(words, der_word("jed", form, agreement));
      return Declension::weak;
    case Determiner::indefinite:
      if (plural && !negated) return Declension::strong;
      append(words, ein_word(negated ? "kein" : "ein", form, agreement));
      return Declension::mixed;
    case Determiner::possessive:
      append(words, ein_word(phrase.pronoun->german_possessive, form, agreement));
      return Declension::mixed;
    case Determiner::many:
      append(words, der_word("viel", form, agreement));
      return Declension::strong;
    case Determiner::two:
      append(words, "zwei");
      return Declension::strong;
    case Determiner::three:
      append(words, "drei");
      return Declension::strong;
    case Determiner::owner:
      if (phrase.parts.at(0).kind == NounPhrase::Kind::name) {
        append(words, std::string(phrase.parts.at(0).name->text) + "s");
        return Declension::strong;
      }
      append(words, definite_article(form, agreement));
      return Declension::weak;
    case Determiner::whose:
      break;
  }
  return Declension::strong;
}

void append_adjectives_and_noun(Words& words, const NounPhrase& phrase, Case form,
                                Declension declension) {
  for (const Modifier& modifier : phrase.adjectives) {
    if (modifier.very) append(words, "sehr");
    append(words, adjective_form(*modifier.adjective, declension, form, agreement_of(phrase)));
  }
  append(words, noun_form(*phrase.noun, form, phrase.number));
}

// Without its relative clause, which may have to wait until after the verb.
Words common_phrase(const NounPhrase& phrase, Case form, bool negated) {
  Words words;
  const Declension declension = append_determiner(words, phrase, form, negated);
  append_adjectives_and_noun(words, phrase, form, declension);
  if (phrase.determiner == Determiner::owner &&
      phrase.parts.at(0).kind == NounPhrase::Kind::common) {
    append(words, noun_phrase(phrase.parts.at(0), Case::genitive));
  }
  if (phrase.attribute) append(words, prepositional_phrase(*phrase.attribute));
  return words;
}

}  // namespace

void append(Words& words, std::string_view more) {
  while (!more.empty()) {
    const size_t blank = more.find(' ');
    words.emplace_back(more.substr(0, blank));
    more = blank == std::string_view::npos ? std::string_view() : more.substr(blank + 1);
  }
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

Agreement agreement_of(const NounPhrase& phrase) {
  return {phrase.noun != nullptr ? phrase.noun->gender : Gender::masculine, phrase.number};
}

Words noun_phrase(const NounPhrase& phrase, Case form, bool negated) {
  Words words;
  switch (phrase.kind) {
    case NounPhrase::Kind::pronoun:
      append(words, pronoun_form(*phrase.pronoun, form));
      break;
    case NounPhrase::Kind::anaphor:
      append(words, personal_pronoun(form, agreement_of(phrase)));
      break;
    case NounPhrase::Kind::weather:
      append(words, "es");
      break;
    case NounPhrase::Kind::name:
      append(words, phrase.name->text);
      break;
    case NounPhrase::Kind::coordination:
      append(words, noun_phrase(phrase.parts.at(0), form));
      append(words, "und");
      append(words, noun_phrase(phrase.parts.at(1), form));
      break;
    case NounPhrase::Kind::common:
      append(words, common_phrase(phrase, form, negated));
      break;
  }
  return words;
}

Words prepositional_phrase(std::string_view preposition, Case form, const NounPhrase& object) {
  Words words;
  Words inner = noun_phrase(object, form);
  const bool definite = object.kind == NounPhrase::Kind::common &&
                        (object.determiner == Determiner::definite ||
                         (object.determiner == Determiner::owner &&
                          object.parts.at(0).kind == NounPhrase::Kind::common));
  const std::string_view fused =
      definite ? fused_preposition(preposition, form, agreement_of(object)) : std::string_view();
  if (fused.empty()) {
    append(words, preposition);
  } else {
    append(words, fused);
    inner.erase(inner.begin());  // the article
  }
  append(words, inner);
  return words;
}

Words prepositional_phrase(const PrepositionalPhrase& phrase) {
  return prepositional_phrase(phrase.preposition->german, phrase.preposition->object_case,
                              *phrase.object);
}

}  // namespace attn::grammar
