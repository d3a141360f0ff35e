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
    visit("encoder_layers", self.encoder_layers, "bidirectional layers of the encoder");
    visit("decoder_layers", self.decoder_layers,
          "layers of the decoder; the first one asks attention, the others read what it gives");
    visit("d_model", self.d_model, "width of the embeddings and of the pre-softmax rows");
    visit("hidden", self.hidden, "width of a layer's state, in the encoder of each direction's");
    visit("d_attention", self.d_attention, "width in which attention compares queries and keys");
    visit("cell", self.cell, "lstm, or gru");
    visit("attention", self.attention,
          "additive (Bahdanau et al. 2015) or dot (Luong et al. 2015)");
    visit("dropout", self.dropout,
          "on embeddings, between layers, on the encoder's output and on the pre-softmax rows");
    visit("embedding_sharing", self.embedding_sharing,
          "which embeddings and the output projection are one matrix");
  }
  bool operator==(const RecurrentConfig&) const = default;
  /// Throws ConfigError naming the first option that contradicts itself.
  void validate() const;
  std::optional<int64_t> max_length() const { return {}; }
  bool counts_words() const { return false; }
};

}  // namespace attn
