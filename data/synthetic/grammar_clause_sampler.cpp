#include "data/synthetic/grammar_clause_sampler.h"

#include <array>
#include <memory>
#include <utility>

namespace attn::grammar {
namespace {

constexpr Classes kLiving = kPerson | kAnimal;

// "I see me" and "Anna sees Anna" need a reflexive, and two of the same noun sound odd.
bool clash(const NounPhrase& one, const NounPhrase& other) {
  if (one.kind == NounPhrase::Kind::pronoun && other.kind == NounPhrase::Kind::pronoun) {
    return one.person() == other.person() && one.person() != Person::third;
  }
  if (one.kind != other.kind) return false;
  return one.noun == other.noun && one.name == other.name;
}

NounPhrase her_duck() {
  NounPhrase phrase;
  phrase.determiner = Determiner::possessive;
  for (const Pronoun& pronoun : all_pronouns()) {
    if (pronoun.subject == "she") phrase.pronoun = &pronoun;
  }
  for (const Noun& noun : all_nouns()) {
    if (noun.english == "duck") phrase.noun = &noun;
  }
  return phrase;
}

bool passing_state(const Adjective& adjective) {
  return adjective.rank == 1 && (adjective.classes & ~kLiving) == 0;
}

}  // namespace

const Verb& ClauseSampler::verb_of(Frame frame, const ClauseSpec& spec) {
  std::vector<const Verb*> fitting;
  for (const Verb& verb : all_verbs()) {
    if (verb.frame != frame) continue;
    const bool given = spec.subject && spec.subject->noun != nullptr;
    if (given && (verb.subjects & spec.subject->noun->classes) == 0) continue;
    if (spec.past && verb.past_looks_present() && spec.subject &&
        !spec.subject->is_third_singular()) {
      continue;
    }
    fitting.push_back(&verb);
  }
  return fitting.empty() ? copula_verb() : *dice_.pick(fitting);
}

Clause ClauseSampler::clause(const ClauseSpec& spec) {
  static constexpr std::array<Frame, 7> kFrames = {
      Frame::intransitive,  Frame::motion, Frame::transitive, Frame::ditransitive,
      Frame::prepositional, Frame::copula, Frame::weather};
  const bool weather = spec.weather && !spec.subject && spec.gap == Gap::none;
  const std::array<int, 7> weights = {20, 11, 38, 9, 7, 14, weather ? 3 : 0};
  const Frame frame = kFrames[static_cast<size_t>(dice_.weighted(weights))];
  if (frame == Frame::copula) return description(spec);
  return with_verb(verb_of(frame, spec), spec);
}

Clause ClauseSampler::with_verb(const Verb& verb, const ClauseSpec& spec) {
  if (verb.frame == Frame::copula) return description(spec);
  Clause clause;
  clause.verb = &verb;
  clause.gap = spec.gap;
  choose_tense(clause, spec);
  const bool weather = verb.frame == Frame::weather;
  clause.negated = spec.negation && !weather && dice_.chance(14);
  if (weather) {
    clause.subject.kind = NounPhrase::Kind::weather;
    return clause;
  }
  choose_subject(clause, spec, verb.subjects);
  if (verb.frame == Frame::ditransitive) choose_recipient(clause, spec);
  choose_object(clause, spec);
  choose_adverbials(clause, spec);
  return clause;
}

void ClauseSampler::choose_tense(Clause& clause, const ClauseSpec& spec) {
  clause.tense = spec.past ? Tense::past : Tense::present;
  const bool plain = spec.plain_tense || spec.past || clause.verb->frame == Frame::weather;
  if (plain || clause.verb->stative) return;
  const std::array<int, 3> weights = {60, spec.perfect ? 18 : 0, 22};
  const int choice = dice_.weighted(weights);
  if (choice == 1) clause.tense = Tense::perfect;
  if (choice != 2) return;
  clause.tense = Tense::modal;
  clause.modal = &dice_.pick(all_modals());
  // Only people want, and not to be old.
  const bool wants = clause.verb->subjects == kPerson && clause.verb->frame != Frame::copula;
  if (clause.modal->is_want && !wants) clause.modal = &all_modals()[0];
}

void ClauseSampler::choose_subject(Clause& clause, const ClauseSpec& spec, Classes classes) {
  if (spec.subject) {
    clause.subject = *spec.subject;
    return;
  }
  NounSlot slot;
  slot.classes = classes;
  slot.they = spec.they;
  slot.you = clause.tense != Tense::past;
  slot.third_singular = clause.tense == Tense::past && clause.verb->past_looks_present();
  slot.negated = clause.negated;
  slot.attribute = spec.gap == Gap::none;
  slot.coordination = slot.attribute && (classes & ~kLiving) == 0;
  if (spec.gap == Gap::owner) {
    do {
      clause.subject = nouns_.common(slot);
    } while ((clause.subject.noun->classes & (kPerson | kRelation | kParent)) == kPerson);
    clause.subject.determiner = Determiner::whose;
    clause.subject.parts.clear();
    clause.subject.attribute.reset();
    return;
  }
  clause.subject = nouns_.phrase(slot);
  if (dice_.chance(11)) add_relative(clause.subject, spec);
}

void ClauseSampler::choose_recipient(Clause& clause, const ClauseSpec& spec) {
  NounSlot slot;
  slot.they = spec.they;
  slot.negated = slot.definite = clause.negated;
  slot.bare_plural = false;
  do {
    clause.recipient = nouns_.phrase(slot);
  } while (clash(clause.subject, *clause.recipient));
  clause.recipient_last = dice_.chance(35);
}

void ClauseSampler::choose_object(Clause& clause, const ClauseSpec& spec) {
  const Verb& verb = *clause.verb;
  if (verb.objects == 0 || spec.gap == Gap::object) return;
  NounSlot slot;
  slot.classes = verb.objects;
  slot.they = spec.they;
  slot.negated = clause.negated;
  slot.definite = clause.negated && verb.frame == Frame::prepositional;
  slot.coordination = !clause.negated;
  slot.attribute = verb.frame != Frame::ditransitive && spec.gap == Gap::none;
  slot.bare_plural = verb.frame != Frame::ditransitive;
  do {
    clause.object = nouns_.phrase(slot);
  } while (clash(clause.subject, *clause.object));
  const bool may_relate = verb.frame == Frame::transitive && clause.subject.relative == nullptr;
  if (may_relate && dice_.chance(13)) add_relative(*clause.object, spec);
}

void ClauseSampler::choose_adverbials(Clause& clause, const ClauseSpec& spec) {
  const Verb& verb = *clause.verb;
  const bool closed = clause.object && clause.object->relative;  // nothing may follow
  if (!closed) {
    const bool long_object = clause.object && clause.object->attribute;
    if (verb.manners != 0 && !long_object && dice_.chance(22)) {
      do {
        clause.manner = &dice_.pick(all_manners());
      } while ((clause.manner->bit & verb.manners) == 0);
    }
    if (verb.with_company && dice_.chance(20)) {
      clause.company = nouns_.prepositional(company_prepositions());
    }
    choose_place(clause, spec);
  }
  choose_time(clause, spec);
}

void ClauseSampler::choose_place(Clause& clause, const ClauseSpec& spec) {
  const Verb& verb = *clause.verb;
  if (!spec.place || verb.places == Places::none) return;
  const auto choices = prepositions_of(verb.places);
  if (verb.frame == Frame::motion) {
    clause.place = nouns_.prepositional(choices);
    return;
  }
  const bool intransitive = verb.frame == Frame::intransitive;
  // "sees the dog on the table" would be the dog that is there, and "not" would have two places in
  // German.
  const bool vague = clause.object && (clause.negated || clause.object->attribute);
  if (vague || !dice_.chance(intransitive ? 40 : 13)) return;
  const bool inside = !intransitive || (verb.places == Places::location && dice_.chance(55));
  clause.place = nouns_.prepositional(inside ? choices.first(1) : choices);
}

void ClauseSampler::choose_time(Clause& clause, const ClauseSpec& spec) {
  if (clause.verb->stative) return;
  const bool closed = clause.object && clause.object->relative;
  const auto fits = [&](const TimePhrase& time) {
    return (time.tenses & tense_bit(clause.tense)) != 0 && (time.with_negation || !clause.negated);
  };
  const auto choose = [&](std::span<const TimePhrase> times) -> const TimePhrase* {
    const TimePhrase& time = dice_.pick(times);
    return fits(time) ? &time : nullptr;
  };
  const bool first = spec.time_first && dice_.chance(50);
  if (spec.time && (first || !closed) && dice_.chance(28)) {
    clause.time = choose(all_times());
    clause.time_first = clause.time != nullptr && first;
  }
  if (spec.frequency && clause.time == nullptr && dice_.chance(16)) {
    clause.frequency = choose(all_frequencies());
  }
}

Clause ClauseSampler::description(const ClauseSpec& spec, const Adjective* but) {
  Clause clause;
  clause.verb = &copula_verb();
  clause.gap = spec.gap;
  choose_tense(clause, spec);
  clause.negated = spec.negation && dice_.chance(14);
  const bool place = spec.place && !spec.subject && spec.gap == Gap::none && dice_.chance(20);
  if (place) {
    choose_subject(clause, spec, kLiving | kThing | kText | kFood);
    clause.place = nouns_.prepositional(prepositions_of(Places::location).first(1));
    choose_time(clause, spec);
    return clause;
  }
  const Adjective* adjective = nullptr;
  if (spec.subject) {
    adjective = nouns_.adjective(spec.subject->noun->classes, but);
  } else {
    adjective = &dice_.pick(all_adjectives());
  }
  clause.adjective = Modifier{adjective, dice_.chance(20)};
  choose_subject(clause, spec, adjective->classes);
  std::erase_if(clause.subject.adjectives, [&](const Modifier& modifier) {
    return modifier.adjective->english == adjective->english;
  });
  if (passing_state(*adjective)) choose_time(clause, spec);
  return clause;
}

void ClauseSampler::add_relative(NounPhrase& head, const ClauseSpec& spec) {
  const bool fits = spec.relatives && head.kind == NounPhrase::Kind::common && !head.attribute &&
                    head.determiner != Determiner::owner;
  if (fits) head.relative = std::make_shared<const Clause>(relative(head, spec.past));
}

Clause ClauseSampler::relative(const NounPhrase& head, bool past) {
  ClauseSpec spec;
  spec.past = past;
  const bool of_person = (head.noun->classes & kPerson) != 0;
  const std::array<int, 3> weights = {50, 32, of_person ? 14 : 0};
  const int kind = dice_.weighted(weights);
  if (kind == 1) {
    std::vector<const Verb*> fitting;
    for (const Verb& verb : all_verbs()) {
      const bool takes = verb.frame == Frame::transitive && verb.preposition.empty();
      if (takes && (verb.objects & head.noun->classes) != 0) fitting.push_back(&verb);
    }
    if (!fitting.empty()) {
      spec.gap = Gap::object;
      spec.place = false;
      Clause clause;
      do {
        clause = with_verb(*dice_.pick(fitting), spec);
      } while (clash(clause.subject, head));
      return clause;
    }
  }
  if (kind == 2) {
    spec.gap = Gap::owner;
    Clause clause;
    do {
      clause = dice_.chance(50) ? description(spec) : this->clause(spec);
    } while (clause.subject.noun == head.noun);
    return clause;
  }
  spec.gap = Gap::subject;
  NounPhrase subject;
  subject.noun = head.noun;
  subject.number = head.number;
  spec.subject = std::move(subject);
  return clause(spec);
}

Clause ClauseSampler::speech(bool past) {
  ClauseSpec spec;
  spec.past = past;
  const Frame frame = dice_.chance(70) ? Frame::that_clause : Frame::if_clause;
  const Verb& verb = verb_of(frame, spec);
  Clause clause;
  clause.verb = &verb;
  choose_tense(clause, spec);
  const bool only_negated = frame == Frame::if_clause && verb.english.base == "know";
  clause.negated = only_negated || (frame == Frame::that_clause && dice_.chance(14));
  choose_subject(clause, spec, verb.subjects);
  if (!verb.stative && dice_.chance(20)) {
    const TimePhrase& time = dice_.pick(all_times());
    const bool fits = (time.tenses & tense_bit(clause.tense)) != 0;
    if (fits && (time.with_negation || !clause.negated)) {
      clause.time = &time;
      clause.time_first = true;
    }
  }
  spec.weather = true;
  clause.complement = std::make_shared<const Clause>(this->clause(spec));
  return clause;
}

Clause ClauseSampler::perception(bool past) {
  std::vector<const Verb*> verbs = {&duck_verb(), &duck_verb()};
  for (const Verb& verb : all_verbs()) {
    const bool alone = verb.frame == Frame::intransitive || verb.places == Places::flying;
    if (alone && verb.prefix.empty()) verbs.push_back(&verb);
  }
  Clause clause;
  clause.verb = &see_verb();
  clause.tense = past ? Tense::past : Tense::present;
  ClauseSpec spec;
  spec.past = past;
  choose_subject(clause, spec, kPerson);
  clause.perceived = dice_.pick(verbs);
  if (dice_.chance(15)) {  // the bird, where the verb "to duck" might be expected
    clause.object = her_duck();
    while (clause.perceived == &duck_verb()) clause.perceived = dice_.pick(verbs);
    if ((clause.perceived->subjects & clause.object->noun->classes) != 0) return clause;
  }
  const bool ducks = clause.perceived == &duck_verb();
  NounSlot slot;
  slot.classes = clause.perceived->subjects;
  do {
    clause.object = nouns_.phrase(slot);
  } while (clash(clause.subject, *clause.object));
  if (ducks || (clause.perceived->manners != 0 && dice_.chance(20))) {
    do {
      clause.manner = &dice_.pick(all_manners());
    } while ((clause.manner->bit & clause.perceived->manners) == 0);
  }
  return clause;
}

}  // namespace attn::grammar
