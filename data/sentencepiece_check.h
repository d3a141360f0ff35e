// Validates the bytes of a SentencePiece model before loading: the library does not check for
// truncated models and invalid offsets.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Throws DataError starting with `name` if the bytes are not a model, if the model is incomplete
/// (a file truncated between two pieces still parses), or if its normalization table has offsets
/// outside of the table.
void check_sentencepiece_bytes(std::string_view bytes, const std::string& name);

}  // namespace attn
