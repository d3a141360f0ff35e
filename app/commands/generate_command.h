// attn generate: the built-in corpus as files.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>

#include "data/synthetic/grammar.h"

namespace attn {

/// Writes DIRECTORY/{train,valid,test}.{en,de,ptb} and says so on stderr. Throws DataError when the
/// directory or a file can't be written.
GeneratedCorpus write_generated_corpus(const std::filesystem::path& directory,
                                       const GeneratedSizes& sizes, uint64_t seed);

void add_generate_command(CLI::App& app);

}  // namespace attn
