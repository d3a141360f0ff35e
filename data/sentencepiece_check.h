// A look into the bytes of a SentencePiece model before the library gets them: it trusts a model to
// be whole, and to know its way around its own tables.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Throws DataError, naming `name`, when the bytes are no model, when parts of one are missing (a
/// file cut between two pieces still parses), or when its normalization table points outside of
/// itself.
void check_sentencepiece_bytes(std::string_view bytes, const std::string& name);

}  // namespace attn
