// Files of the synthetic corpus.
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/synthetic/grammar.h"
#include "data/tokenizer.h"

namespace attn {

/// Generates the corpus and writes DIRECTORY/{train,valid,test}.{en,de,ptb}. Throws DataError if a
/// file cannot be written, or exists with different content; then none is written.
GeneratedCorpus write_generated_corpus(const std::filesystem::path& directory,
                                       const GeneratedSizes& sizes, uint64_t seed, const Log& log);

}  // namespace attn
