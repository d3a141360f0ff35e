#include "data/grammar_german.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "data/grammar_morphology.h"

namespace attn::grammar {
namespace {

using Words = std::vector<std::string>;

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

Words relative_clause(const NounPhrase& head, const Clause& clause);
Words noun_phrase(const NounPhrase& phrase, Case form, bool negated = false);

Agreement agreement_of(const NounPhrase& phrase) {
  return {phrase.noun != nullptr ? phrase.noun->gender : Gender::masculine, phrase.number};
}

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

constexpr GermanVerb kHaben = {"haben", "habe", "hast", "hat", "hatte", "gehabt"};
constexpr GermanVerb kSein = {"sein", "bin", "bist", "ist", "war", "gewesen"};

// The two halves of the sentence bracket: "hat … gesehen", "ruft … an"; and what a subordinate
// clause ends in.
struct VerbBracket {
  std::string finite;
  Words right;
  Words verb_final;
};

VerbBracket verb_bracket(const Clause& clause) {
  const Verb& verb = *clause.verb;
  const Person person = clause.subject.person();
  const Number number = clause.subject.number;
  VerbBracket bracket;
  if (clause.tense == Tense::modal) {
    bracket.finite = modal_form(*clause.modal, person, number, clause.negated);
    bracket.right = {std::string(verb.prefix) + std::string(verb.german.infinitive)};
  } else if (clause.tense == Tense::perfect) {
    bracket.finite = finite_form(verb.with_sein ? kSein : kHaben, person, number, false);
    bracket.right = {std::string(verb.german.participle)};
  } else {
    bracket.finite = finite_form(verb.german, person, number, clause.tense == Tense::past);
    if (!verb.prefix.empty()) bracket.right = {std::string(verb.prefix)};
    bracket.verb_final = {std::string(verb.prefix) + bracket.finite};
    return bracket;
  }
  bracket.verb_final = bracket.right;
  bracket.verb_final.push_back(bracket.finite);
  return bracket;
}

// German negates an indefinite object by "kein", everything else by "nicht".
bool negates_object(const Clause& clause) {
  return clause.negated && clause.object && clause.object->kind == NounPhrase::Kind::common &&
         clause.object->determiner == Determiner::indefinite &&
         clause.verb->german_preposition.empty();
}

void append_noun_objects(Words& words, const Clause& clause) {
  if (clause.recipient && !clause.recipient->is_pronoun()) {
    append(words, noun_phrase(*clause.recipient, Case::dative));
  }
  if (clause.object && !clause.object->is_pronoun() && clause.verb->german_preposition.empty()) {
    append(words, noun_phrase(*clause.object, clause.verb->object_case, negates_object(clause)));
  }
}

void append_pronoun_objects(Words& words, const Clause& clause) {
  if (clause.object && clause.object->is_pronoun() && clause.verb->german_preposition.empty()) {
    append(words, noun_phrase(*clause.object, clause.verb->object_case));
  }
  if (clause.recipient && clause.recipient->is_pronoun()) {
    append(words, noun_phrase(*clause.recipient, Case::dative));
  }
}

void append_perceived(Words& words, const Clause& clause) {
  if (clause.perceived == nullptr) return;
  if (clause.perceived == &duck_verb()) append(words, "sich");
  if (clause.manner != nullptr) append(words, clause.manner->german);
  append(words, clause.perceived->german.infinitive);
}

// All between the two halves of the bracket but the subject.
Words middle_field(const Clause& clause) {
  Words words;
  append_pronoun_objects(words, clause);
  if (clause.time != nullptr && !clause.time_first) append(words, clause.time->german);
  if (clause.frequency != nullptr) append(words, clause.frequency->german);
  append_noun_objects(words, clause);
  if (clause.negated && !negates_object(clause)) append(words, "nicht");
  if (clause.manner != nullptr && clause.perceived == nullptr) append(words, clause.manner->german);
  if (clause.company) append(words, prepositional_phrase(*clause.company));
  if (clause.object && !clause.verb->german_preposition.empty()) {
    append(words, prepositional_phrase(clause.verb->german_preposition, clause.verb->object_case,
                                       *clause.object));
  }
  if (clause.place) append(words, prepositional_phrase(*clause.place));
  if (clause.adjective) {
    if (clause.adjective->very) append(words, "sehr");
    append(words, clause.adjective->adjective->german);
  }
  append_perceived(words, clause);
  return words;
}

Words subordinate_clause(std::string_view conjunction, const Clause& clause);

// What follows the verb: the object's relative clause and the clause that is said, known or asked.
Words final_field(const Clause& clause) {
  Words words;
  if (clause.object && clause.object->relative) {
    append(words, relative_clause(*clause.object, *clause.object->relative));
  }
  if (clause.complement) {
    const bool asks = clause.verb->frame == Frame::if_clause;
    append(words, subordinate_clause(asks ? "ob" : "dass", *clause.complement));
  }
  return words;
}

Words subject_phrase(const Clause& clause) {
  Words words = noun_phrase(clause.subject, Case::nominative);
  if (clause.gap == Gap::none && clause.subject.relative) {
    append(words, relative_clause(clause.subject, *clause.subject.relative));
  }
  return words;
}

Words verb_final_clause(const Words& front, const Clause& clause) {
  Words words = {","};
  append(words, front);
  if (clause.gap != Gap::subject) append(words, subject_phrase(clause));
  append(words, middle_field(clause));
  append(words, verb_bracket(clause).verb_final);
  append(words, final_field(clause));
  append(words, ",");
  return words;
}

Words subordinate_clause(std::string_view conjunction, const Clause& clause) {
  return verb_final_clause({std::string(conjunction)}, clause);
}

Words relative_clause(const NounPhrase& head, const Clause& clause) {
  Case form = Case::nominative;
  if (clause.gap == Gap::object) form = clause.verb->object_case;
  if (clause.gap == Gap::owner) form = Case::genitive;
  return verb_final_clause({std::string(relative_pronoun(form, agreement_of(head)))}, clause);
}

// Verb second with something in front, verb first without.
Words main_clause(const Words& front, const Clause& clause, bool subject_inside) {
  const VerbBracket bracket = verb_bracket(clause);
  Words words = front;
  append(words, bracket.finite);
  if (subject_inside) append(words, subject_phrase(clause));
  append(words, middle_field(clause));
  append(words, bracket.right);
  append(words, final_field(clause));
  return words;
}

Words statement(const Clause& clause) {
  if (!clause.time_first) return main_clause(subject_phrase(clause), clause, false);
  Words front;
  append(front, clause.time->german);
  return main_clause(front, clause, true);
}

std::string_view subordinator_word(const Conjunction& conjunction, const Clause& clause) {
  return clause.tense == Tense::past ? conjunction.german_past : conjunction.german;
}

std::string_view question_word(const Sentence& sentence) {
  if (sentence.kind == Sentence::Kind::object_question) {
    if (!sentence.asks_person) return "was";
    return sentence.first.verb->object_case == Case::dative ? "wem" : "wen";
  }
  switch (sentence.adverb) {
    case Sentence::Adverb::where:
      return sentence.first.verb->frame == Frame::motion ? "wohin" : "wo";
    case Sentence::Adverb::why:
      return "warum";
    case Sentence::Adverb::when:
      break;
  }
  return "wann";
}

Words coordination(const Sentence& sentence) {
  Words words = statement(sentence.first);
  append(words, sentence.contrast ? ", aber" : "und");
  append(words, statement(*sentence.second));
  return words;
}

Words sentence_words(const Sentence& sentence) {
  switch (sentence.kind) {
    case Sentence::Kind::statement:
      return statement(sentence.first);
    case Sentence::Kind::coordination:
      return coordination(sentence);
    case Sentence::Kind::subordinate_last: {
      Words words = statement(sentence.first);
      append(words, subordinate_clause(subordinator_word(*sentence.subordinator, *sentence.second),
                                       *sentence.second));
      return words;
    }
    case Sentence::Kind::subordinate_first: {
      const Words front = subordinate_clause(
          subordinator_word(*sentence.subordinator, sentence.first), sentence.first);
      return main_clause(front, *sentence.second, true);
    }
    case Sentence::Kind::question:
      return main_clause({}, sentence.first, true);
    case Sentence::Kind::who:
      return main_clause({"wer"}, sentence.first, false);
    case Sentence::Kind::object_question:
    case Sentence::Kind::adverb_question:
      break;
  }
  return main_clause({std::string(question_word(sentence))}, sentence.first, true);
}

// Clauses bring a comma on either side; one is enough between two, and none is needed at the edges.
Words tidy_commas(const Words& words) {
  Words tidy;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool needless =
        words[i] == "," && (tidy.empty() || i + 1 == words.size() || words[i + 1] == ",");
    if (!needless) tidy.push_back(words[i]);
  }
  return tidy;
}

// The umlauts are the only letters beyond ASCII that begin a word of the dictionary; in UTF-8 their
// capitals differ in the second byte, by the same bit as in ASCII.
void capitalise(std::string& word) {
  const bool umlaut = word.size() > 1 && word[0] == '\xC3';
  char& letter = umlaut ? word[1] : word[0];
  const bool small =
      umlaut ? (static_cast<unsigned char>(letter) >= 0xA0) : (letter >= 'a' && letter <= 'z');
  if (small) letter = static_cast<char>(static_cast<unsigned char>(letter) - 0x20);
}

}  // namespace

std::vector<std::string> german_words(const Sentence& sentence) {
  Words words = tidy_commas(sentence_words(sentence));
  capitalise(words.front());
  switch (sentence.kind) {
    case Sentence::Kind::question:
    case Sentence::Kind::who:
    case Sentence::Kind::object_question:
    case Sentence::Kind::adverb_question:
      words.emplace_back("?");
      break;
    case Sentence::Kind::statement:
    case Sentence::Kind::coordination:
    case Sentence::Kind::subordinate_last:
    case Sentence::Kind::subordinate_first:
      words.emplace_back(".");
      break;
  }
  return words;
}

}  // namespace attn::grammar
