// The built-in corpus as files.
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/synthetic/grammar.h"
#include "data/tokenizer.h"

namespace attn {

/// Writes DIRECTORY/{train,valid,test}.{en,de,ptb}, and says so. Throws DataError when the
/// directory or a file can't be written.
GeneratedCorpus write_generated_corpus(const std::filesystem::path& directory,
                                       const GeneratedSizes& sizes, uint64_t seed, const Log& log);

}  // namespace attn
