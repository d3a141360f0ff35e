// A Transformer as a model of CTranslate2 (version 4 and later).
#pragma once

#include <filesystem>

#include "app/export/source.h"

namespace attn {

struct Ctranslate2Options {
  bool int8 = false;  ///< the weights of linear layers and embeddings as 8-bit integers
};

/// Throws ConfigError naming the first option that CTranslate2 cannot express.
void require_ctranslate2(const ExportSource& source);

/// Writes model.bin, config.json, the vocabularies as JSON and the SentencePiece models into an
/// existing folder. Throws DataError, and like require_ctranslate2().
void write_ctranslate2(const ExportSource& source, const Ctranslate2Options& options,
                       const std::filesystem::path& folder);

}  // namespace attn
