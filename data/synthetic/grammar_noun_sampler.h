// Samples noun phrases for the generator.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "data/synthetic/grammar_syntax.h"

namespace attn::grammar {

/// Random choices of the samplers.
class Dice {
 public:
  explicit Dice(uint64_t seed, uint64_t stream) : random_(seed, stream) {}
  bool chance(int percent) { return static_cast<int>(random_.below(100)) < percent; }
  template <class T>
  const T& pick(std::span<const T> items) {
    return items[random_.below(items.size())];
  }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[random_.below(items.size())];
  }
  /// An index, with probability proportional to its weight.
  int weighted(std::span<const int> weights);

 private:
  Random random_;
};

/// Constraints on the noun phrase of an argument.
struct NounSlot {
  Classes classes = kPerson;
  bool pronouns = true;
  bool they = true;  ///< the pronoun "they" or "them"
  bool you = true;   ///< "you": kept from the past, where German would not say "du sahst"
  bool third_singular = false;
  bool coordination = false;
  bool attribute = false;  ///< "with the dog"
  bool negated = false;    ///< beside "not": no "every", no numerals
  bool definite = false;   ///< neither "a" nor a bare plural
  bool bare_plural = true;
  bool adjectives = true;
};

class NounSampler {
 public:
  explicit NounSampler(Dice& dice) : dice_(dice) {}

  NounPhrase phrase(const NounSlot& slot);
  /// Always a noun with its article.
  NounPhrase common(const NounSlot& slot);
  PrepositionalPhrase prepositional(std::span<const Preposition> prepositions);
  /// A compatible adjective that is not on the scale of `but`; null if there is none.
  const Adjective* adjective(Classes classes, const Adjective* but = nullptr);

 private:
  const std::vector<const Noun*>& nouns(Classes classes);
  NounPhrase pronoun(const NounSlot& slot);
  NounPhrase coordination(const NounSlot& slot);
  void choose_determiner(NounPhrase& phrase, const NounSlot& slot);
  void choose_owner(NounPhrase& phrase);
  void choose_adjectives(NounPhrase& phrase);
  void choose_attribute(NounPhrase& phrase);

  Dice& dice_;
  std::vector<std::pair<Classes, std::vector<const Noun*>>> admitted_;  // by slot, filled on demand
};

}  // namespace attn::grammar
