#include "data/synthetic/grammar_sampler.h"

#include <array>
#include <utility>
#include <vector>

namespace attn::grammar {
namespace {

ClauseSpec question_spec(bool past) {
  ClauseSpec spec;
  spec.past = past;
  spec.negation = false;
  spec.frequency = false;
  return spec;
}

// "he" or "she" for a person mentioned before; null if German and English might differ.
const Pronoun* pronoun_for(const NounPhrase& person) {
  Gender gender = Gender::neuter;
  if (person.kind == NounPhrase::Kind::name) gender = person.name->gender;
  if (person.kind == NounPhrase::Kind::common && person.number == Number::singular) {
    gender = person.noun->gender;
  }
  for (const Pronoun& pronoun : all_pronouns()) {
    if (person.kind == NounPhrase::Kind::pronoun && person.pronoun == &pronoun) return &pronoun;
    if (gender == Gender::masculine && pronoun.subject == "he") return &pronoun;
    if (gender == Gender::feminine && pronoun.subject == "she") return &pronoun;
  }
  return nullptr;
}

NounPhrase anaphor_of(const NounPhrase& antecedent) {
  NounPhrase anaphor;
  anaphor.kind = NounPhrase::Kind::anaphor;
  anaphor.noun = antecedent.noun;
  anaphor.number = antecedent.number;
  return anaphor;
}

ClauseSpec second_spec(bool past) {
  ClauseSpec spec;
  spec.past = past;
  spec.plain_tense = true;
  spec.they = spec.time = spec.frequency = spec.place = false;
  return spec;
}

}  // namespace

Sentence SentenceSampler::sentence() {
  static constexpr std::array<int, 10> kWeights = {40, 11, 5, 7, 13, 11, 6, 3, 3, 4};
  const bool past = dice_.chance(45);
  switch (dice_.weighted(kWeights)) {
    case 0:
      return statement(past);
    case 1:
      return speech(past);
    case 2:
      return perception(past);
    case 3:
      return coordination(past);
    case 4:
      return subordination(past);
    case 5:
      return reference(past);
    case 6:
      return question(past);
    case 7:
      return who(past);
    case 8:
      return object_question(past);
    default:
      return adverb_question(past);
  }
}

Sentence SentenceSampler::statement(bool past) {
  ClauseSpec spec;
  spec.past = past;
  spec.relatives = spec.time_first = true;
  Sentence sentence;
  sentence.first = clauses_.clause(spec);
  return sentence;
}

Sentence SentenceSampler::speech(bool past) {
  Sentence sentence;
  sentence.first = clauses_.speech(past);
  return sentence;
}

Sentence SentenceSampler::perception(bool past) {
  Sentence sentence;
  sentence.first = clauses_.perception(past);
  return sentence;
}

Sentence SentenceSampler::coordination(bool past) {
  ClauseSpec spec;
  spec.past = past;
  spec.weather = true;
  Sentence sentence;
  sentence.kind = Sentence::Kind::coordination;
  sentence.contrast = dice_.chance(50);
  sentence.first = clauses_.clause(spec);
  // A "they" here might be read as the things of the first clause, and so be translated otherwise.
  spec.they = false;
  sentence.second = clauses_.clause(spec);
  return sentence;
}

Sentence SentenceSampler::subordination(bool past) {
  Sentence sentence;
  sentence.kind =
      dice_.chance(40) ? Sentence::Kind::subordinate_first : Sentence::Kind::subordinate_last;
  do {
    sentence.subordinator = &dice_.pick(all_subordinators());
  } while (past && sentence.subordinator->english == "if");
  ClauseSpec main;
  main.past = past;
  ClauseSpec subordinate = main;
  subordinate.plain_tense = subordinate.weather = true;
  subordinate.frequency = false;
  const bool causal =
      sentence.subordinator->english == "because" || sentence.subordinator->english == "although";
  main.perfect = causal;
  const bool main_first = sentence.kind == Sentence::Kind::subordinate_last;
  (main_first ? subordinate : main).they = false;
  sentence.first = clauses_.clause(main_first ? main : subordinate);
  sentence.second = clauses_.clause(main_first ? subordinate : main);
  return sentence;
}

// "The man bought the lamp because it was beautiful": German must remember which thing "it" is, and
// its gender. The first clause names a single thing, and no second clause but this one has "they"
// for things.
Sentence SentenceSampler::reference(bool past) {
  ClauseSpec spec;
  spec.past = past;
  spec.plain_tense = true;
  spec.negation = spec.time = spec.frequency = spec.place = spec.they = false;
  NounSlot slot;
  slot.pronouns = slot.bare_plural = false;
  slot.negated = true;
  Sentence sentence;
  if (dice_.chance(40)) {
    slot.classes = ~kPerson;  // all senses of a word, so that none with several gets in
    spec.subject = clauses_.nouns().common(slot);
    sentence.first = clauses_.description(spec);
    refer_to_subject(sentence, past);
    return sentence;
  }
  const Verb* verb = nullptr;
  do {
    verb = &clauses_.verb_of(Frame::transitive, spec);
    slot.classes = verb->objects & ~kPerson;
  } while (slot.classes == 0 || verb->subjects != kPerson);
  do {
    sentence.first = clauses_.with_verb(*verb, spec);
  } while (sentence.first.subject.kind == NounPhrase::Kind::coordination ||
           sentence.first.subject.attribute);
  sentence.first.object = clauses_.nouns().common(slot);
  refer_to_object(sentence, past);
  return sentence;
}

void SentenceSampler::link(Sentence& sentence) {
  const bool because = dice_.chance(40);
  sentence.kind = because ? Sentence::Kind::subordinate_last : Sentence::Kind::coordination;
  if (because) sentence.subordinator = &all_subordinators()[0];
  sentence.contrast = dice_.chance(65);
}

void SentenceSampler::refer_to_subject(Sentence& sentence, bool past) {
  ClauseSpec spec = second_spec(past);
  spec.subject = anaphor_of(sentence.first.subject);
  link(sentence);
  sentence.second = clauses_.description(spec, sentence.first.adjective->adjective);
  drop_repeated(sentence.first.subject, *sentence.second);
}

void SentenceSampler::refer_to_object(Sentence& sentence, bool past) {
  const NounPhrase& antecedent = *sentence.first.object;
  ClauseSpec spec = second_spec(past);
  link(sentence);
  std::vector<const Verb*> verbs;
  for (const Verb& verb : all_verbs()) {
    const bool fits = verb.frame == Frame::transitive && &verb != sentence.first.verb &&
                      verb.subjects == kPerson && (verb.objects & antecedent.noun->classes) != 0 &&
                      !verb.past_looks_present();
    if (fits) verbs.push_back(&verb);
  }
  const Pronoun* person = pronoun_for(sentence.first.subject);
  if (person == nullptr || verbs.empty() || dice_.chance(55)) {
    spec.subject = anaphor_of(antecedent);
    sentence.second = clauses_.description(spec);
    drop_repeated(*sentence.first.object, *sentence.second);
    return;
  }
  NounPhrase subject;
  subject.kind = NounPhrase::Kind::pronoun;
  subject.pronoun = person;
  subject.number = person->number;
  spec.subject = subject;
  sentence.second = clauses_.with_verb(*dice_.pick(verbs), spec);
  sentence.second->object = anaphor_of(antecedent);
}

// "The old table is red, and it is new": no quality is given twice, nor are two of the same scale.
void SentenceSampler::drop_repeated(NounPhrase& antecedent, const Clause& second) {
  if (!second.adjective) return;
  const Adjective& said = *second.adjective->adjective;
  std::erase_if(antecedent.adjectives, [&](const Modifier& modifier) {
    const Adjective& other = *modifier.adjective;
    return other.english == said.english || (other.rank > 1 && other.rank == said.rank);
  });
}

Sentence SentenceSampler::question(bool past) {
  Sentence sentence;
  sentence.kind = Sentence::Kind::question;
  sentence.first = clauses_.clause(question_spec(past));
  return sentence;
}

Sentence SentenceSampler::who(bool past) {
  ClauseSpec spec = question_spec(past);
  NounPhrase anyone;
  anyone.noun = &all_nouns()[0];  // a person, for agreement
  spec.subject = anyone;
  spec.gap = Gap::subject;
  Sentence sentence;
  sentence.kind = Sentence::Kind::who;
  sentence.first = clauses_.clause(spec);
  return sentence;
}

Sentence SentenceSampler::object_question(bool past) {
  ClauseSpec spec = question_spec(past);
  spec.gap = Gap::object;
  spec.place = false;
  Sentence sentence;
  sentence.kind = Sentence::Kind::object_question;
  std::vector<const Verb*> verbs;
  sentence.asks_person = dice_.chance(50);
  for (const Verb& verb : all_verbs()) {
    if (verb.frame != Frame::transitive || !verb.preposition.empty()) continue;
    const bool person = (verb.objects & kPerson) != 0;
    const bool thing = (verb.objects & ~(kPerson | kAnimal)) != 0 && verb.english.base != "know";
    if (sentence.asks_person ? person : thing) verbs.push_back(&verb);
  }
  sentence.first = clauses_.with_verb(*dice_.pick(verbs), spec);
  return sentence;
}

Sentence SentenceSampler::adverb_question(bool past) {
  ClauseSpec spec = question_spec(past);
  spec.time = false;
  Sentence sentence;
  sentence.kind = Sentence::Kind::adverb_question;
  const std::array<int, 3> weights = {50, 30, 20};
  const int choice = dice_.weighted(weights);
  if (choice == 1) {
    sentence.adverb = Sentence::Adverb::why;
    sentence.first = clauses_.clause(spec);
    return sentence;
  }
  sentence.adverb = choice == 0 ? Sentence::Adverb::where : Sentence::Adverb::when;
  spec.place = choice != 0;
  std::vector<const Verb*> verbs;
  for (const Verb& verb : all_verbs()) {
    const bool somewhere = verb.places == Places::location || verb.places == Places::going ||
                           verb.places == Places::running;
    if (somewhere && verb.frame != Frame::copula) verbs.push_back(&verb);
  }
  sentence.first = clauses_.with_verb(*dice_.pick(verbs), spec);
  return sentence;
}

}  // namespace attn::grammar
