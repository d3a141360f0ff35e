#include "data/synthetic/grammar_noun_sampler.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace attn::grammar {

int Dice::weighted(std::span<const int> weights) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  int left = static_cast<int>(random_.below(static_cast<uint64_t>(total)));
  for (size_t i = 0; i < weights.size(); ++i) {
    if (left < weights[i]) return static_cast<int>(i);
    left -= weights[i];
  }
  return static_cast<int>(weights.size()) - 1;
}

const std::vector<const Noun*>& NounSampler::nouns(Classes classes) {
  const auto known =
      std::ranges::find_if(admitted_, [&](const auto& entry) { return entry.first == classes; });
  if (known != admitted_.end()) return known->second;
  admitted_.emplace_back(classes, admitted_nouns(classes));
  return admitted_.back().second;
}

NounPhrase NounSampler::pronoun(const NounSlot& slot) {
  NounPhrase phrase;
  phrase.kind = NounPhrase::Kind::pronoun;
  do {
    phrase.pronoun = &dice_.pick(all_pronouns());
    phrase.number = phrase.pronoun->number;
  } while ((phrase.pronoun->person == Person::second && !slot.you) ||
           (phrase.pronoun->subject == "they" && !slot.they) ||
           (slot.third_singular && !phrase.is_third_singular()));
  return phrase;
}

NounPhrase NounSampler::coordination(const NounSlot& slot) {
  NounSlot inner = slot;
  inner.coordination = inner.attribute = inner.pronouns = inner.bare_plural = false;
  inner.definite = true;
  NounPhrase phrase;
  phrase.kind = NounPhrase::Kind::coordination;
  phrase.number = Number::plural;
  phrase.parts.push_back(this->phrase(inner));
  phrase.parts.push_back(this->phrase(inner));
  const NounPhrase& first = phrase.parts[0];
  const NounPhrase& second = phrase.parts[1];
  const bool twice =
      first.kind == second.kind && first.noun == second.noun && first.name == second.name;
  return twice ? first : phrase;
}

NounPhrase NounSampler::phrase(const NounSlot& slot) {
  if ((slot.classes & kPerson) != 0) {
    if (slot.pronouns && dice_.chance(30)) return pronoun(slot);
    if (dice_.chance(15)) {
      NounPhrase named;
      named.kind = NounPhrase::Kind::name;
      named.name = &dice_.pick(all_names());
      return named;
    }
  }
  if (slot.coordination && !slot.third_singular && dice_.chance(6)) return coordination(slot);
  return common(slot);
}

NounPhrase NounSampler::common(const NounSlot& slot) {
  NounPhrase phrase;
  phrase.noun = dice_.pick(nouns(slot.classes));
  choose_determiner(phrase, slot);
  if (slot.adjectives) choose_adjectives(phrase);
  if (slot.attribute && phrase.determiner != Determiner::owner && dice_.chance(6)) {
    choose_attribute(phrase);
  }
  return phrase;
}

void NounSampler::choose_determiner(NounPhrase& phrase, const NounSlot& slot) {
  static constexpr std::array<Determiner, 9> kChoices = {
      Determiner::definite, Determiner::indefinite, Determiner::possessive,
      Determiner::owner,    Determiner::every,      Determiner::many,
      Determiner::two,      Determiner::three,      Determiner::demonstrative};
  const int quantified = slot.negated ? 0 : 1;
  const int many = slot.third_singular ? 0 : quantified;
  const std::array<int, 9> weights = {
      42, slot.definite ? 0 : 18, 13, 6, 4 * quantified, 4 * many, 2 * many, 2 * many, 8};
  phrase.determiner = kChoices[static_cast<size_t>(dice_.weighted(weights))];
  phrase.number = !slot.third_singular && dice_.chance(28) ? Number::plural : Number::singular;
  switch (phrase.determiner) {
    case Determiner::indefinite:
      if (!slot.bare_plural) phrase.number = Number::singular;
      break;
    case Determiner::every:
      phrase.number = Number::singular;
      break;
    case Determiner::many:
    case Determiner::two:
    case Determiner::three:
      phrase.number = Number::plural;
      break;
    case Determiner::possessive:
    case Determiner::owner:
      choose_owner(phrase);
      break;
    case Determiner::definite:
    case Determiner::demonstrative:
    case Determiner::whose:
      break;
  }
}

// Replaces a possessive or an owner that would be odd: "his man", "her mothers".
void NounSampler::choose_owner(NounPhrase& phrase) {
  const Classes classes = phrase.noun->classes;
  if ((classes & kPerson) != 0 && (classes & kRelation) == 0) {
    phrase.determiner = Determiner::definite;
    return;
  }
  if ((classes & kParent) != 0) phrase.number = Number::singular;
  if (phrase.determiner == Determiner::possessive) {
    phrase.pronoun = &dice_.pick(all_pronouns());
    return;
  }
  NounPhrase owner;
  if (dice_.chance(50)) {
    owner.kind = NounPhrase::Kind::name;
    owner.name = &dice_.pick(all_names());
  } else {
    do {
      owner.noun = dice_.pick(nouns(kPerson));
    } while (owner.noun == phrase.noun);
    const bool possessed = (owner.noun->classes & kRelation) != 0 && dice_.chance(40);
    if (possessed) {
      owner.determiner = Determiner::possessive;
      owner.pronoun = &dice_.pick(all_pronouns());
    }
    if (dice_.chance(15)) choose_adjectives(owner);
  }
  phrase.parts.push_back(std::move(owner));
}

const Adjective* NounSampler::adjective(Classes classes, const Adjective* but) {
  std::vector<const Adjective*> fitting;
  for (const Adjective& candidate : all_adjectives()) {
    const bool rival = but != nullptr && (candidate.english == but->english ||
                                          (candidate.rank > 1 && candidate.rank == but->rank));
    if ((candidate.classes & classes) != 0 && !rival) fitting.push_back(&candidate);
  }
  return fitting.empty() ? nullptr : dice_.pick(fitting);
}

void NounSampler::choose_adjectives(NounPhrase& phrase) {
  if (!dice_.chance(26)) return;
  const Adjective* first = adjective(phrase.noun->classes);
  if (first == nullptr) return;
  phrase.adjectives.push_back({first, dice_.chance(8)});
  if (!dice_.chance(12)) return;
  const Adjective* second = adjective(phrase.noun->classes);
  if (second == nullptr || second->rank <= first->rank) return;
  phrase.adjectives.push_back({second, false});
}

void NounSampler::choose_attribute(NounPhrase& phrase) {
  std::vector<const Attribute*> fitting;
  for (const Attribute& candidate : all_attributes()) {
    if ((candidate.heads & phrase.noun->classes) != 0) fitting.push_back(&candidate);
  }
  if (fitting.empty()) return;
  const Attribute& attribute = *dice_.pick(fitting);
  NounSlot slot;
  slot.classes = attribute.preposition.objects;
  slot.pronouns = slot.bare_plural = false;
  phrase.attribute =
      PrepositionalPhrase{&attribute.preposition, std::make_shared<const NounPhrase>(common(slot))};
}

PrepositionalPhrase NounSampler::prepositional(std::span<const Preposition> prepositions) {
  const Preposition& preposition = dice_.pick(prepositions);
  NounSlot slot;
  slot.classes = preposition.objects;
  slot.definite = true;
  slot.bare_plural = false;
  slot.negated = true;
  slot.pronouns = false;
  slot.third_singular = dice_.chance(70);
  return {&preposition, std::make_shared<const NounPhrase>(phrase(slot))};
}

}  // namespace attn::grammar
