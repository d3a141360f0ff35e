// Options of the Transformer; the defaults are the paper's base model (section 3, Table 3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/enum_names.h"
#include "model/layers/norm_kind.h"
#include "model/transformer/mixer_config.h"
#include "model/vocabulary.h"

namespace attn {

/// Section 3.5: position encodings.
enum class Position {
  sinusoidal,         ///< the paper: sines and cosines interleaved
  sinusoidal_halves,  ///< the released code: all sines, then all cosines
  learned,            ///< row (E) of Table 3
  rotary,             ///< RoPE on queries and keys of self-attention (Su et al. 2021)
  none
};
/// Layer normalization after the residual sum (the paper) or before the sub-layer.
enum class Norm { post, pre };
enum class Activation { relu, gelu, silu };
/// Implementations of attention: optimized kernels, or the reference, which can return the weights.
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
  EncoderMixerConfig encoder_mixer;
  MixerConfig decoder_mixer;
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
    visit("layers", self.layers, "N: layers of the encoder and of the decoder");
    visit("d_model", self.d_model, "model dimension: width of embeddings and sub-layer outputs");
    visit("d_ff", self.d_ff, "inner dimension of the feed-forward networks");
    visit("heads", self.heads, "h: number of attention heads");
    visit("d_k", self.d_k, "dimension of queries and keys per head; \"auto\": d_model / heads");
    visit("d_v", self.d_v, "dimension of values per head; \"auto\": d_model / heads");
    visit("encoder_mixer", self.encoder_mixer, "token mixer of the encoder's layers");
    visit("decoder_mixer", self.decoder_mixer, "token mixer of the decoder's layers");
    visit("dropout", self.dropout,
          "P_drop: dropout on sub-layer outputs and on embeddings + positions");
    visit("attention_dropout", self.attention_dropout,
          "dropout on attention weights (0 in the paper, 0.1 in Tensor2Tensor)");
    visit("activation_dropout", self.activation_dropout,
          "dropout after the feed-forward activation (0 in the paper, 0.1 in Tensor2Tensor)");
    visit("position", self.position,
          "position encoding (row (E) of Table 3: learned; rotary: RoPE, on queries and keys of "
          "self-attention)");
    visit(
        "max_positions", self.max_positions,
        "size of the learned position table; longer sentences are an error with learned positions");
    visit("word_positions", self.word_positions,
          "not in the paper, parsing only: the decoder input also encodes the number of leaves "
          "generated so far; best with data.tokenizer words");
    visit("norm", self.norm,
          "layer normalization after the residual sum (post, the paper) or before the sub-layer "
          "(pre)");
    visit("norm_kind", self.norm_kind, "layer normalization (the paper) or RMSNorm");
    visit("bias", self.bias, "biases in the attention projections");
    visit("activation", self.activation, "activation of the feed-forward networks");
    visit("embedding_sharing", self.embedding_sharing,
          "which of source embedding, target embedding and output projection share one matrix");
  }
  bool operator==(const TransformerConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
  /// Maximum number of positions, if the position encoding is limited.
  std::optional<int64_t> max_length() const;
  bool counts_words() const { return word_positions; }
};

}  // namespace attn
