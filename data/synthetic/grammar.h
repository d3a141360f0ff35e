// The synthetic corpus for the demo and the tests: English sentences with constituency trees and
// German translations from a hand-written grammar. An abstract sentence is sampled
// (grammar_sampler.h) and generated in both languages (grammar_english.h, grammar_german.h) from
// one dictionary (grammar_lexicon.h).
//
// The translation is a function of the English sentence, so that perfect scores are possible, but
// it requires word order (verb second, verb final, separable verbs), case, gender and number, and
// words whose translation depends on context: "bank" is "Bank" or "Ufer", "it" has the gender of
// its antecedent, "if" is "wenn" or "ob".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/parsing/tree.h"

namespace attn {

/// A truecased sentence pair. Tokens are separated by single spaces; punctuation marks and the
/// English "'s" are tokens.
struct GeneratedPair {
  std::string english;
  std::string german;
  Tree tree;  ///< the English sentence under a TOP bracket; its leaves are the English tokens
};

namespace grammar {
class SentenceSampler;
}

/// The same seed and stream yield the same sentences on every platform. Sentences have 4 to 20
/// English tokens and may recur. Movable, not copyable.
class PairGenerator {
 public:
  explicit PairGenerator(uint64_t seed, uint64_t stream = 0);
  ~PairGenerator();
  PairGenerator(PairGenerator&&) noexcept;
  PairGenerator& operator=(PairGenerator&&) noexcept;
  GeneratedPair next();

 private:
  std::unique_ptr<grammar::SentenceSampler> sampler_;
};

/// The first `count` pairs of a generator. Throws ConfigError for a negative count.
std::vector<GeneratedPair> generate_pairs(uint64_t seed, int64_t count);

/// Number of pairs of each part.
struct GeneratedSizes {
  int64_t train = 20000;
  int64_t valid = 500;
  int64_t test = 500;
};

struct GeneratedCorpus {
  std::vector<GeneratedPair> train, valid, test;
};

/// Generates three parts without duplicate English sentences. `valid` and `test` do not depend on
/// the size of `train`, and a smaller `train` is a prefix of a larger one. Throws ConfigError for a
/// negative size, and if the grammar does not yield enough distinct sentences.
GeneratedCorpus generate_corpus(uint64_t seed, const GeneratedSizes& sizes);

}  // namespace attn
