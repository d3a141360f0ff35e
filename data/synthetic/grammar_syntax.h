// The abstract syntax that both languages share: the content of a sentence without word order and
// word forms. The sampler samples these values; grammar_english.h and grammar_german.h generate the
// sentences.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/synthetic/grammar_lexicon.h"

namespace attn::grammar {

enum class Determiner {
  definite,
  indefinite,  // "a", and no article in the plural
  demonstrative,
  every,
  many,
  two,
  three,
  possessive,  // "my"
  owner,       // "the teacher 's", "Anna 's"
  whose,       // the relative pronoun takes the article's place
};

struct Clause;
struct NounPhrase;

struct PrepositionalPhrase {
  const Preposition* preposition = nullptr;
  std::shared_ptr<const NounPhrase> object;
};

struct Modifier {
  const Adjective* adjective = nullptr;
  bool very = false;
};

struct NounPhrase {
  enum class Kind {
    pronoun,
    name,
    common,
    coordination,  // "the man and Anna"
    anaphor,       // "it" or "they" for a thing named before: German has the gender of `noun`
    weather,       // "it rains"
  };
  Kind kind = Kind::common;
  const Pronoun* pronoun = nullptr;  // also the possessor of Determiner::possessive
  const Name* name = nullptr;
  const Noun* noun = nullptr;
  Number number = Number::singular;
  Determiner determiner = Determiner::definite;
  std::vector<Modifier> adjectives;
  std::vector<NounPhrase> parts;  // the two of a coordination; the one owner
  std::optional<PrepositionalPhrase> attribute;
  std::shared_ptr<const Clause> relative;

  /// Unstressed and early in the German clause.
  bool is_pronoun() const { return kind == Kind::pronoun || kind == Kind::anaphor; }
  Person person() const { return kind == Kind::pronoun ? pronoun->person : Person::third; }
  bool is_third_singular() const { return person() == Person::third && number == Number::singular; }
};

/// The constituent that a relative clause or question has at its front (a filler-gap dependency).
enum class Gap { none, subject, object, owner };

struct Clause {
  NounPhrase subject;  // in a relative clause on the subject: its head, for agreement
  const Verb* verb = nullptr;
  Tense tense = Tense::present;
  const Modal* modal = nullptr;  // Tense::modal
  bool negated = false;
  Gap gap = Gap::none;
  std::optional<NounPhrase> recipient;
  bool recipient_last = false;  // "gives a book to the child"
  std::optional<NounPhrase> object;
  std::optional<Modifier> adjective;           // after the copula
  const Verb* perceived = nullptr;             // "saw her swim": object and bare infinitive
  const Manner* manner = nullptr;              // modifies `perceived`, if it is set
  std::optional<PrepositionalPhrase> company;  // "with the teacher"
  std::optional<PrepositionalPhrase> place;
  const TimePhrase* frequency = nullptr;
  const TimePhrase* time = nullptr;
  bool time_first = false;
  std::shared_ptr<const Clause> complement;  // "that" or "if" by the verb's frame
};

struct Sentence {
  enum class Kind {
    statement,
    coordination,       // first , and|but second
    subordinate_last,   // first because second
    subordinate_first,  // Because first , second
    question,           // Does first ?
    who,                // Who sleeps ?
    object_question,    // Whom does first see ?  What does first see ?
    adverb_question,    // Where does first sleep ?
  };
  enum class Adverb { where, why, when };
  Kind kind = Kind::statement;
  Clause first;
  std::optional<Clause> second;
  bool contrast = false;  // coordination with "but"
  const Conjunction* subordinator = nullptr;
  bool asks_person = false;  // object_question: "whom", else "what"
  Adverb adverb = Adverb::where;
};

}  // namespace attn::grammar
