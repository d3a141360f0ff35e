// The options of the recurrent encoder-decoder with attention.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "base/enum_names.h"
#include "model/layers/recurrent_cell.h"
#include "model/limits.h"
#include "model/vocabulary.h"

namespace attn {

enum class RecurrentAttention {
  additive,  ///< vᵀ tanh(W q + U k): Bahdanau et al. 2015
  dot        ///< (W q)ᵀ (U k): Luong et al. 2015's "general"
};

/// Which encoder layers are bidirectional; the others run from left to right.
enum class RecurrentDirections {
  both,    ///< all
  bottom,  ///< the first: GNMT (Wu et al. 2016)
  forward  ///< none
};
/// Where the decoder attends.
enum class RecurrentDecoder {
  gnmt,  ///< from the first layer; the others read the context (Wu et al. 2016)
  luong  ///< from the last layer; the context enters the attentional vector (Luong et al. 2015)
};

template <>
struct EnumNames<RecurrentAttention> {
  static constexpr auto values = std::to_array<EnumName<RecurrentAttention>>(
      {{RecurrentAttention::additive, "additive"}, {RecurrentAttention::dot, "dot"}});
};

template <>
struct EnumNames<RecurrentDirections> {
  static constexpr auto values =
      std::to_array<EnumName<RecurrentDirections>>({{RecurrentDirections::both, "both"},
                                                    {RecurrentDirections::bottom, "bottom"},
                                                    {RecurrentDirections::forward, "forward"}});
};
template <>
struct EnumNames<RecurrentDecoder> {
  static constexpr auto values = std::to_array<EnumName<RecurrentDecoder>>(
      {{RecurrentDecoder::gnmt, "gnmt"}, {RecurrentDecoder::luong, "luong"}});
};

struct RecurrentConfig {
  int64_t encoder_layers = 1;
  int64_t decoder_layers = 2;
  int64_t d_model = 256;
  int64_t hidden = 256;
  int64_t d_attention = 256;
  RecurrentCell cell = RecurrentCell::lstm;
  RecurrentAttention attention = RecurrentAttention::additive;
  RecurrentDirections encoder_directions = RecurrentDirections::both;
  RecurrentDecoder decoder = RecurrentDecoder::gnmt;
  bool input_feeding = false;
  bool residual = false;
  double dropout = 0.3;
  EmbeddingSharing embedding_sharing = EmbeddingSharing::all;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("encoder_layers", self.encoder_layers, "encoder layers");
    visit("decoder_layers", self.decoder_layers, "decoder layers");
    visit("d_model", self.d_model, "width of the embeddings and of the pre-softmax layer");
    visit("hidden", self.hidden, "hidden size of a layer, in the encoder per direction");
    visit("d_attention", self.d_attention, "dimension of attention queries and keys");
    visit("cell", self.cell, "recurrent cell");
    visit("attention", self.attention,
          "score function: additive (Bahdanau et al. 2015) or dot (Luong et al. 2015, general)");
    visit("encoder_directions", self.encoder_directions,
          "bidirectional encoder layers: both (all), bottom (the first, as in GNMT) or forward "
          "(none)");
    visit("decoder", self.decoder,
          "gnmt: the first layer computes the attention query, the others read the context; luong: "
          "the last layer computes it");
    visit("input_feeding", self.input_feeding,
          "the first decoder layer also reads the previous context (gnmt) or attentional vector "
          "(luong); training is then sequential");
    visit("residual", self.residual,
          "residual connections from the third layer of encoder and decoder on, as in GNMT");
    visit("dropout", self.dropout,
          "dropout on embeddings, between layers, on the encoder output and before the projection");
    visit("embedding_sharing", self.embedding_sharing,
          "which of source embedding, target embedding and output projection share one matrix");
  }
  bool operator==(const RecurrentConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const {
    require_between("encoder_layers", encoder_layers, 1, kMaxLayers);
    require_between("decoder_layers", decoder_layers, 1, kMaxLayers);
    require_between("d_model", d_model, 1, kMaxWidth);
    require_between("hidden", hidden, 1, kMaxWidth);
    require_between("d_attention", d_attention, 1, kMaxWidth);
    require(
        !residual || encoder_layers > 2 || decoder_layers > 2, "residual", "true",
        "begins with the third layer of a side: requires encoder_layers or decoder_layers of at "
        "least 3");
    require_dropout("dropout", dropout);
  }
  std::optional<int64_t> max_length() const { return {}; }
  std::string muon_conflict() const { return ""; }

  bool bidirectional(int64_t encoder_layer) const {
    return encoder_directions == RecurrentDirections::both ||
           (encoder_directions == RecurrentDirections::bottom && encoder_layer == 0);
  }
  /// Input width of an encoder layer; of the one after the last: the width of the encoder output.
  int64_t encoder_inputs(int64_t layer) const {
    return layer == 0 ? d_model : (bidirectional(layer - 1) ? 2 : 1) * hidden;
  }
  int64_t memory_width() const { return encoder_inputs(encoder_layers); }
  /// Width of what input feeding feeds.
  int64_t fed_width() const { return decoder == RecurrentDecoder::gnmt ? memory_width() : d_model; }
  int64_t decoder_inputs(int64_t layer) const {
    if (layer == 0) return d_model + (input_feeding ? fed_width() : 0);
    return hidden + (decoder == RecurrentDecoder::gnmt ? memory_width() : 0);
  }
  /// Input width of the layer before the projection: state, context and, in GNMT's form, embedding.
  int64_t output_inputs() const {
    return hidden + memory_width() + (decoder == RecurrentDecoder::gnmt ? d_model : 0);
  }
  /// Whether the output of a layer of either side is added to its input.
  bool has_residual(int64_t layer) const { return residual && layer >= 2; }
};

}  // namespace attn
