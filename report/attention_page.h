// Attention weights as an HTML page and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

/// The weights of one layer.
struct AttentionMap {
  std::string kind;  ///< encoder, decoder or cross
  int64_t heads = 0;
  std::vector<float> weights;  ///< [heads, queries, keys]; each row sums to 1
};

struct AttentionToken {
  std::string label;
  std::string piece = {};  ///< what the model reads instead, for an unknown word; else empty
};

/// A pair of sentences and all weights between them. The source's tokens are the keys of cross and
/// encoder, EOS included; the target's are the decoder's input rows, BOS included.
struct AttentionSentence {
  int64_t line = 1;  ///< of the text, from 1: sentences that are empty or too long have no page
  std::vector<AttentionToken> source, target;
  std::vector<AttentionMap> maps;

  const std::vector<AttentionToken>& queries(const AttentionMap& map) const {
    return map.kind == "encoder" ? source : target;
  }
  const std::vector<AttentionToken>& keys(const AttentionMap& map) const {
    return map.kind == "decoder" ? target : source;
  }
};

struct AttentionReport {
  std::string title, about;
  std::vector<AttentionSentence> sentences;
};

/// An array with an object for each sentence and kind, in bertviz's format: "attn"
/// [layer][head][query][key], "left_text" (queries) and "right_text" (keys); besides "line",
/// "kind", and for unknown words "left_pieces" and "right_pieces". Weights have four decimals.
std::string attention_json(const AttentionReport& report);

/// attention.html with this JSON: for each sentence, layer and kind the grid of all heads, the
/// lines of chosen heads (the paper's Figures 3 to 5) and a matrix. It loads nothing.
std::string attention_page(const AttentionReport& report);

}  // namespace attn
