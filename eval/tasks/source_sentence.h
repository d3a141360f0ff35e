// A source sentence as the encoder reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tokenizer.h"

namespace attn {

struct SourceSentence {
  std::vector<int32_t> tokens;         ///< without EOS
  std::vector<int32_t> features = {};  ///< SourceFeatures::encode; empty: the model has none
  bool truncated = false;              ///< to max_tokens
};

/// Encodes a line and keeps its first max_tokens tokens.
SourceSentence encode_source(const Tokenizers& tokenizers, const std::string& line,
                             int64_t max_tokens);

}  // namespace attn
