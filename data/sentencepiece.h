// Subword tokenizers of the SentencePiece library (Kudo and Richardson 2018). Only
// sentencepiece.cpp includes its headers.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/tokenizer.h"

namespace attn {

/// How a vocabulary is learnt.
struct VocabularyOptions {
  const char* size = "data.vocab_size";  ///< the option with its size, for errors
  /// BPE learns its merges from the most frequent words, which bounds the memory.
  size_t max_words = 1'500'000;
};

/// Trains a model on the texts and returns its serialized bytes: <unk> 0, <s> 1, </s> 2, no padding
/// token. Deterministic given texts and config. The vocabulary is smaller than `vocab_size` if the
/// texts do not yield enough pieces. Throws ConfigError if `vocab_size` is smaller than the number
/// of characters, and DataError for unusable text. Logs how much of the text is left out.
std::string learn_sentencepiece(std::span<const std::filesystem::path> texts,
                                const DataConfig& config, const VocabularyOptions& options = {},
                                const Log& log = {});

/// Whether the bytes look like a SentencePiece model rather than a word list.
bool looks_like_sentencepiece(std::string_view bytes);

/// Throws DataError starting with `name` if the bytes are not a model, if the model is incomplete,
/// or if its normalization table has offsets outside of the table.
void check_sentencepiece_bytes(std::string_view bytes, const std::string& name);

/// Loads a model. Throws DataError starting with `name` for a corrupt model or one without EOS.
std::unique_ptr<Tokenizer> parse_sentencepiece(std::string bytes, const std::string& name);

}  // namespace attn
