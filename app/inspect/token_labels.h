// Labels of tokens in pictures of attention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "report/attention_page.h"

namespace attn {

/// The pieces of the tokens. If `text` has one word per token, as with a vocabulary of words,
/// unknown words are labelled with themselves, and the piece tells what the model reads.
std::vector<AttentionToken> token_labels(const Tokenizer& tokenizer,
                                         std::span<const int32_t> tokens, const std::string& text);

}  // namespace attn
