// A Transformer as MarianMTModel of Hugging Face transformers.
#pragma once

#include <filesystem>

#include "app/export/source.h"

namespace attn {

/// Throws ConfigError naming the first option that MarianMTModel cannot express.
void require_huggingface(const ExportSource& source);

/// Writes model.safetensors, the configs of model, generation and tokenizer, the vocabularies and
/// the SentencePiece models into an existing folder. Throws DataError, and like
/// require_huggingface().
void write_huggingface(const ExportSource& source, const std::filesystem::path& folder);

}  // namespace attn
