// Samples sentences for the generator.
#pragma once

#include <cstdint>

#include "data/synthetic/grammar_clause_sampler.h"
#include "data/synthetic/grammar_syntax.h"

namespace attn::grammar {

class SentenceSampler {
 public:
  SentenceSampler(uint64_t seed, uint64_t stream) : dice_(seed, stream), clauses_(dice_) {}
  SentenceSampler(const SentenceSampler&) = delete;
  SentenceSampler& operator=(const SentenceSampler&) = delete;

  Sentence sentence();

 private:
  Sentence statement(bool past);
  Sentence speech(bool past);
  Sentence perception(bool past);
  Sentence coordination(bool past);
  Sentence subordination(bool past);
  Sentence reference(bool past);
  Sentence question(bool past);
  Sentence who(bool past);
  Sentence object_question(bool past);
  Sentence adverb_question(bool past);
  static void drop_repeated(NounPhrase& antecedent, const Clause& second);
  void link(Sentence& sentence);
  void refer_to_subject(Sentence& sentence, bool past);
  void refer_to_object(Sentence& sentence, bool past);

  Dice dice_;
  ClauseSampler clauses_;
};

}  // namespace attn::grammar
