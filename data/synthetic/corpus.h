// The synthetic corpus of the demo and the tests: distinct sentences of the built-in grammar. The
// translation is a function of the English sentence, so that perfect scores are possible, but it
// requires word order (verb second, verb last), case, gender and number, and words whose
// translation depends on others: "bank" is "Bank" or "Ufer", "it" has the gender of its antecedent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/synthetic/grammar.h"
#include "data/tokenizer.h"

namespace attn {

/// Number of pairs of each part.
struct GeneratedSizes {
  int64_t train = 20000;
  int64_t valid = 500;
  int64_t test = 500;
};

struct GeneratedCorpus {
  std::vector<GeneratedPair> train, valid, test;
};

/// Generates three parts without duplicate English sentences, which have 4 to 20 tokens. `valid`
/// and `test` do not depend on the size of `train`, and a smaller `train` is a prefix of a larger
/// one. Throws ConfigError for a negative size, and if the grammar does not yield enough sentences.
GeneratedCorpus generate_corpus(uint64_t seed, const GeneratedSizes& sizes);

/// Generates the corpus and writes DIRECTORY/{train,valid,test}.{en,de,ptb}. Throws DataError if a
/// file cannot be written, or exists with different content; then none is written.
GeneratedCorpus write_generated_corpus(const std::filesystem::path& directory,
                                       const GeneratedSizes& sizes, uint64_t seed, const Log& log);

}  // namespace attn
