#include "data/synthetic/grammar_german.h"

#include <string_view>
#include <utility>

#include "data/synthetic/grammar_german_nouns.h"
#include "data/synthetic/grammar_morphology.h"

namespace attn::grammar {
namespace {

Words relative_clause(const NounPhrase& head, const Clause& clause);

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

// New information comes late: "liest langsam ein Buch", but "liest das Buch langsam".
bool introduces_object(const Clause& clause) {
  if (clause.negated || !clause.object || clause.perceived != nullptr) return false;
  if (clause.object->kind != NounPhrase::Kind::common) return false;
  switch (clause.object->determiner) {
    case Determiner::indefinite:
    case Determiner::many:
    case Determiner::two:
    case Determiner::three:
      return true;
    case Determiner::definite:
    case Determiner::demonstrative:
    case Determiner::every:
    case Determiner::possessive:
    case Determiner::owner:
    case Determiner::whose:
      break;
  }
  return false;
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

// Everything between the two halves of the bracket except the subject and pronouns.
Words middle_field(const Clause& clause) {
  Words words;
  if (clause.time != nullptr && !clause.time_first) append(words, clause.time->german);
  if (clause.frequency != nullptr) append(words, clause.frequency->german);
  const bool manner_first = clause.manner != nullptr && introduces_object(clause);
  if (manner_first) append(words, clause.manner->german);
  append_noun_objects(words, clause);
  if (clause.negated && !negates_object(clause)) append(words, "nicht");
  if (clause.manner != nullptr && clause.perceived == nullptr && !manner_first) {
    append(words, clause.manner->german);
  }
  if (clause.company) append(words, prepositional_phrase(*clause.company));
  if (clause.place) append(words, prepositional_phrase(*clause.place));
  if (clause.object && !clause.verb->german_preposition.empty()) {
    append(words, prepositional_phrase(clause.verb->german_preposition, clause.verb->object_case,
                                       *clause.object));
  }
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
  append_pronoun_objects(words, clause);
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
  // "Heute hilft er mir", but "heute hilft mir die Mutter".
  const bool subject_later = subject_inside && !clause.subject.is_pronoun() &&
                             clause.subject.kind != NounPhrase::Kind::weather;
  if (subject_inside && !subject_later) append(words, subject_phrase(clause));
  append_pronoun_objects(words, clause);
  if (subject_later) append(words, subject_phrase(clause));
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
void capitalize(std::string& word) {
  const bool umlaut = word.size() > 1 && word[0] == '\xC3';
  char& letter = umlaut ? word[1] : word[0];
  const bool small =
      umlaut ? (static_cast<unsigned char>(letter) >= 0xA0) : (letter >= 'a' && letter <= 'z');
  if (small) letter = static_cast<char>(static_cast<unsigned char>(letter) - 0x20);
}

}  // namespace

std::vector<std::string> german_words(const Sentence& sentence) {
  Words words = tidy_commas(sentence_words(sentence));
  capitalize(words.front());
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
