// The options of the Transformer: the paper's base is the default (section 3, Table 3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/enum_names.h"
#include "model/layers/norm_kind.h"
#include "model/vocabulary.h"

namespace attn {

/// Section 3.5: what tells positions apart.
enum class Position {
  sinusoidal,         ///< the paper's: sines and cosines interleaved
  sinusoidal_halves,  ///< the released code's: a half of sines, then a half of cosines
  learned,            ///< row (E) of Table 3
  rotary,             ///< nothing is added; self-attention turns queries and keys (Su et al. 2021)
  none
};
/// Where layer normalisation stands: after the residual sum (the paper) or before the sub-layer.
enum class Norm { post, pre };
enum class Activation { relu, gelu, silu };
/// Two ways to the same attention: the kernels, or the formula written out, which can return its
/// weights.
enum class AttentionPath { kernels, reference };

template <>
struct EnumNames<Position> {
  static constexpr auto values =
      std::to_array<EnumName<Position>>({{Position::sinusoidal, "sinusoidal"},
                                         {Position::sinusoidal_halves, "sinusoidal_halves"},
                                         {Position::learned, "learned"},
                                         {Position::rotary, "rotary"},
                                         {Position::none, "none"}});
};
template <>
struct EnumNames<Norm> {
  static constexpr auto values =
      std::to_array<EnumName<Norm>>({{Norm::post, "post"}, {Norm::pre, "pre"}});
};
template <>
struct EnumNames<Activation> {
  static constexpr auto values = std::to_array<EnumName<Activation>>(
      {{Activation::relu, "relu"}, {Activation::gelu, "gelu"}, {Activation::silu, "silu"}});
};
template <>
struct EnumNames<AttentionPath> {
  static constexpr auto values = std::to_array<EnumName<AttentionPath>>(
      {{AttentionPath::kernels, "kernels"}, {AttentionPath::reference, "reference"}});
  static constexpr auto former = std::to_array<EnumName<AttentionPath>>(
      {{AttentionPath::kernels, "fast"}, {AttentionPath::reference, "readable"}});
};

struct TransformerConfig {
  int64_t layers = 6;
  int64_t d_model = 512;
  int64_t d_ff = 2048;
  int64_t heads = 8;
  int64_t d_k = 64;
  int64_t d_v = 64;
  double dropout = 0.1;
  double attention_dropout = 0.0;
  double activation_dropout = 0.0;
  Position position = Position::sinusoidal;
  int64_t max_positions = 1024;
  bool word_positions = false;
  Norm norm = Norm::post;
  NormKind norm_kind = NormKind::layer;
  bool bias = true;
  Activation activation = Activation::relu;
  EmbeddingSharing embedding_sharing = EmbeddingSharing::all;
  AttentionPath attention = AttentionPath::kernels;  ///< not an option: RuntimeConfig sets it

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layers", self.layers, "N: layers in the encoder and in the decoder");
    visit("d_model", self.d_model, "width of every sub-layer's output");
    visit("d_ff", self.d_ff, "inner width of the feed-forward networks");
    visit("heads", self.heads, "h: attention heads");
    visit("d_k", self.d_k, "width of a query and a key in one head; \"auto\": d_model / heads");
    visit("d_v", self.d_v, "width of a value in one head; \"auto\": d_model / heads");
    visit("dropout", self.dropout, "P_drop: on sub-layer outputs and on embeddings + positions");
    visit("attention_dropout", self.attention_dropout,
          "on attention weights (the later released code)");
    visit("activation_dropout", self.activation_dropout,
          "on the feed-forward activation (the later released code)");
    visit("position", self.position,
          "position encoding; row (E) of Table 3 is learned; rotary turns the queries and keys of "
          "self-attention");
    visit("max_positions", self.max_positions,
          "rows of the learned position table; longer input is refused with learned positions");
    visit("word_positions", self.word_positions,
          "not in the paper; parsing alone, best with data.tokenizer words: the decoder's input "
          "also encodes how many of the sentence's words its tree has so far");
    visit("norm", self.norm, "layer normalisation after the residual sum (paper) or before");
    visit("norm_kind", self.norm_kind,
          "layer normalisation (paper), or by the root mean square, without mean and bias");
    visit("bias", self.bias, "biases on the attention projections");
    visit("activation", self.activation, "of the feed-forward networks");
    visit("embedding_sharing", self.embedding_sharing,
          "which embeddings and the output projection are one matrix");
  }
  bool operator==(const TransformerConfig&) const = default;
  /// Throws ConfigError naming the first option that contradicts itself.
  void validate() const;
  /// The most positions that a sentence may have, if the position encoding ends somewhere.
  std::optional<int64_t> max_length() const;
  bool counts_words() const { return word_positions; }
};

}  // namespace attn
