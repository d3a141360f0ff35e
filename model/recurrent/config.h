// The options of the recurrent encoder-decoder with attention.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/enum_names.h"
#include "model/vocabulary.h"

namespace attn {

enum class RecurrentCell { lstm, gru };
enum class RecurrentAttention {
  additive,  ///< vᵀ tanh(W q + U k): Bahdanau et al. 2015
  dot        ///< (W q)ᵀ (U k): Luong et al. 2015's "general"
};

template <>
struct EnumNames<RecurrentCell> {
  static constexpr auto values = std::to_array<EnumName<RecurrentCell>>(
      {{RecurrentCell::lstm, "lstm"}, {RecurrentCell::gru, "gru"}});
};
template <>
struct EnumNames<RecurrentAttention> {
  static constexpr auto values = std::to_array<EnumName<RecurrentAttention>>(
      {{RecurrentAttention::additive, "additive"}, {RecurrentAttention::dot, "dot"}});
};

struct RecurrentConfig {
  int64_t encoder_layers = 1;
  int64_t decoder_layers = 2;
  int64_t d_model = 256;
  int64_t hidden = 256;
  int64_t d_attention = 256;
  RecurrentCell cell = RecurrentCell::lstm;
  RecurrentAttention attention = RecurrentAttention::additive;
  double dropout = 0.3;
  EmbeddingSharing embedding_sharing = EmbeddingSharing::all;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("encoder_layers", self.encoder_layers, "encoder layers, bidirectional");
    visit(
        "decoder_layers", self.decoder_layers,
        "decoder layers; the first one computes the attention query, the others read the context");
    visit("d_model", self.d_model, "width of the embeddings and of the pre-softmax layer");
    visit("hidden", self.hidden, "hidden size of a layer, in the encoder per direction");
    visit("d_attention", self.d_attention, "dimension of attention queries and keys");
    visit("cell", self.cell, "recurrent cell");
    visit("attention", self.attention,
          "score function: additive (Bahdanau et al. 2015) or dot (Luong et al. 2015, general)");
    visit("dropout", self.dropout,
          "dropout on embeddings, between layers, on the encoder output and before the projection");
    visit("embedding_sharing", self.embedding_sharing,
          "which of source embedding, target embedding and output projection share one matrix");
  }
  bool operator==(const RecurrentConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
  std::optional<int64_t> max_length() const { return {}; }
  bool counts_words() const { return false; }
};

}  // namespace attn
