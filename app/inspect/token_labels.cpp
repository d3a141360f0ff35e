#include "app/inspect/token_labels.h"

#include <string_view>

#include "data/word_vocabulary.h"

namespace attn {

std::vector<AttentionToken> token_labels(const Tokenizer& tokenizer,
                                         std::span<const int32_t> tokens, const std::string& text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  std::vector<AttentionToken> labels;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string piece = tokenizer.piece(tokens[i]);
    const bool unknown = tokens[i] == tokenizer.unk() || piece.starts_with(kUnknownClassMark);
    const bool named = unknown && words.size() == tokens.size();
    labels.push_back(named ? AttentionToken{words[i], piece} : AttentionToken{piece});
  }
  return labels;
}

}  // namespace attn
