// Subword vocabularies by the SentencePiece library (Kudo and Richardson 2018). Its headers are
// included in sentencepiece.cpp alone.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/tokenizer.h"

namespace attn {

/// Learns a model from the texts and returns its bytes: <unk> 0, <s> 1, </s> 2, no padding token.
/// It depends on the texts and the config alone. Fewer pieces than `vocab_size` come out where the
/// texts yield no more. Throws ConfigError when `vocab_size` does not even hold the characters,
/// DataError for unusable text.
std::string learn_sentencepiece(std::span<const std::filesystem::path> texts,
                                const DataConfig& config);

/// Whether the bytes can only be meant as a SentencePiece model.
bool looks_like_sentencepiece(std::string_view bytes);

/// Throws DataError, naming `name`, for a broken model and for one without EOS.
std::unique_ptr<Tokenizer> parse_sentencepiece(std::string bytes, const std::string& name);

}  // namespace attn
