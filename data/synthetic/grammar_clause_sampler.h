// Samples clauses for the generator: a verb and its arguments.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "data/synthetic/grammar_noun_sampler.h"
#include "data/synthetic/grammar_syntax.h"

namespace attn::grammar {

/// Constraints on a sampled clause.
struct ClauseSpec {
  bool past = false;         ///< simple past, else present, perfect or modal
  bool plain_tense = false;  ///< no perfect and no modal
  bool perfect = true;
  bool negation = true;
  bool they = true;  ///< "they" and "them" for people
  bool relatives = false;
  bool time = true;
  bool time_first = false;
  bool frequency = true;
  bool place = true;
  bool weather = false;
  Gap gap = Gap::none;
  std::optional<NounPhrase> subject = {};  ///< given: a head noun or an anaphor
};

class ClauseSampler {
 public:
  explicit ClauseSampler(Dice& dice) : dice_(dice), nouns_(dice) {}

  /// A clause without a complement clause.
  Clause clause(const ClauseSpec& spec);
  /// "The man says that …", "Anna does not know if …"; the complement is drawn too.
  Clause speech(bool past);
  /// "saw her duck swim", "saw her duck quickly".
  Clause perception(bool past);
  /// A clause with this verb. The object is omitted if it is the gap.
  Clause with_verb(const Verb& verb, const ClauseSpec& spec);
  /// "is old": the adjective agrees in class with a given subject, or the subject with it.
  Clause description(const ClauseSpec& spec, const Adjective* but = nullptr);

  NounSampler& nouns() { return nouns_; }
  /// A verb with this frame, compatible with the subject if one is given.
  const Verb& verb_of(Frame frame, const ClauseSpec& spec);

 private:
  void choose_tense(Clause& clause, const ClauseSpec& spec);
  void choose_subject(Clause& clause, const ClauseSpec& spec, Classes classes);
  void choose_object(Clause& clause, const ClauseSpec& spec);
  void choose_recipient(Clause& clause, const ClauseSpec& spec);
  void choose_adverbials(Clause& clause, const ClauseSpec& spec);
  void choose_place(Clause& clause, const ClauseSpec& spec);
  void choose_time(Clause& clause, const ClauseSpec& spec);
  void add_relative(NounPhrase& head, const ClauseSpec& spec);
  Clause relative(const NounPhrase& head, bool past);

  Dice& dice_;
  NounSampler nouns_;
};

}  // namespace attn::grammar
