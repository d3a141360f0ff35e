// Options of the Transformer; the defaults are the paper's base model (section 3, Table 3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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
  alibi,     ///< distance times a slope per head on scores of self-attention (Press et al. 2022)
  t5_bias,   ///< a learned bias per head and bucket of distances, shared by layers (Raffel et al.
             ///< 2020)
  relative,  ///< learned vectors for clipped distances, on keys and values of self-attention (Shaw
             ///< et al. 2018)
  none
};
/// Where the norm is: LN(x + F(x)) (post, the paper), x + F(LN(x)) (pre), or LN(α x + F(x)) with
/// initial weights scaled by β (deep: DeepNorm, Wang et al. 2022).
enum class Norm { post, pre, deep };
/// Activation of the feed-forward networks; geglu and swiglu are gated: W₂(act(W x) ⊙ V x) (Shazeer
/// 2020).
enum class Activation { relu, gelu, silu, geglu, swiglu };
/// Normalization of each head's queries and keys.
enum class QkNorm {
  none,
  l2,  ///< to length 1; the scores get a learned factor instead of 1/√d_k (Henry et al. 2020)
  rms  ///< RMSNorm with gains [d_k]; the scores keep 1/√d_k
};
/// Scale of the initial weights of linear layers.
enum class Initialization {
  xavier,  ///< Xavier uniform
  depth  ///< the same, the last layer of each sub-layer divided by √(number of sub-layers of the
         ///< stack) (Radford et al. 2019)
};

template <>
struct EnumNames<Position> {
  static constexpr auto values =
      std::to_array<EnumName<Position>>({{Position::sinusoidal, "sinusoidal"},
                                         {Position::sinusoidal_halves, "sinusoidal_halves"},
                                         {Position::learned, "learned"},
                                         {Position::rotary, "rotary"},
                                         {Position::alibi, "alibi"},
                                         {Position::t5_bias, "t5_bias"},
                                         {Position::relative, "relative"},
                                         {Position::none, "none"}});
};
template <>
struct EnumNames<Norm> {
  static constexpr auto values = std::to_array<EnumName<Norm>>(
      {{Norm::post, "post"}, {Norm::pre, "pre"}, {Norm::deep, "deep"}});
};
template <>
struct EnumNames<Activation> {
  static constexpr auto values =
      std::to_array<EnumName<Activation>>({{Activation::relu, "relu"},
                                           {Activation::gelu, "gelu"},
                                           {Activation::silu, "silu"},
                                           {Activation::geglu, "geglu"},
                                           {Activation::swiglu, "swiglu"}});
};
template <>
struct EnumNames<QkNorm> {
  static constexpr auto values = std::to_array<EnumName<QkNorm>>(
      {{QkNorm::none, "none"}, {QkNorm::l2, "l2"}, {QkNorm::rms, "rms"}});
};
template <>
struct EnumNames<Initialization> {
  static constexpr auto values = std::to_array<EnumName<Initialization>>(
      {{Initialization::xavier, "xavier"}, {Initialization::depth, "depth"}});
};

/// Distances beyond this share a vector of relative positions (Shaw et al. 2018).
inline constexpr int64_t kRelativeClip = 16;
inline constexpr int64_t kRelativeDistances = 2 * kRelativeClip + 1;
/// Buckets of T5's distances; they grow logarithmically up to kT5MaxDistance.
inline constexpr int64_t kT5Buckets = 32, kT5MaxDistance = 128;

/// Whether the feed-forward networks have a third matrix.
constexpr bool is_gated(Activation activation) {
  return activation == Activation::geglu || activation == Activation::swiglu;
}

/// Whether encoder and decoder end with a norm: the output of the last sub-layer has none.
constexpr bool has_final_norm(Norm norm) {
  return norm == Norm::pre;
}

struct TransformerConfig {
  int64_t layers = 6;
  std::optional<int64_t> decoder_layers;  ///< decoder_depth() resolves it
  int64_t d_model = 512;
  int64_t d_ff = 2048;
  int64_t heads = 8;
  std::optional<int64_t> kv_heads;  ///< key_heads(), key_width() and value_width() resolve these
  std::optional<int64_t> d_k;
  std::optional<int64_t> d_v;
  EncoderMixerConfig encoder_mixer;
  MixerConfig decoder_mixer;
  double dropout = 0.1;
  double attention_dropout = 0.0;
  double activation_dropout = 0.0;
  Position position = Position::sinusoidal;
  int64_t max_positions = 1024;
  bool word_positions = false;
  bool deterministic_attention = false;
  Norm norm = Norm::post;
  NormKind norm_kind = NormKind::layer;
  QkNorm qk_norm = QkNorm::none;
  int64_t qk_norm_length = 64;
  bool bias = true;
  bool feed_forward_bias = true;
  Activation activation = Activation::relu;
  Initialization initialization = Initialization::xavier;
  int64_t mup_base = 0;
  EmbeddingSharing embedding_sharing = EmbeddingSharing::all;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layers", self.layers, "N: layers of the encoder and of the decoder");
    visit("decoder_layers", self.decoder_layers, "layers of the decoder; auto: N, as in the paper");
    visit("d_model", self.d_model, "model dimension: width of embeddings and sub-layer outputs");
    visit("d_ff", self.d_ff, "inner dimension of the feed-forward networks");
    visit("heads", self.heads, "h: number of attention heads");
    visit(
        "kv_heads", self.kv_heads,
        "number of key-value heads, each shared by heads / kv_heads query heads (grouped-query "
        "attention, Ainslie et al. 2023; 1: multi-query attention, Shazeer 2019); auto: as many as "
        "heads");
    visit("d_k", self.d_k, "dimension of queries and keys per head; auto: d_model / heads");
    visit("d_v", self.d_v, "dimension of values per head; auto: d_model / heads");
    visit("encoder_mixer", self.encoder_mixer, "token mixer of the encoder's layers");
    visit("decoder_mixer", self.decoder_mixer, "token mixer of the decoder's layers");
    visit("dropout", self.dropout,
          "P_drop: dropout on sub-layer outputs and on embeddings + positions");
    visit("attention_dropout", self.attention_dropout,
          "dropout on attention weights (0 in the paper, 0.1 in Tensor2Tensor)");
    visit("activation_dropout", self.activation_dropout,
          "dropout after the feed-forward activation (0 in the paper, 0.1 in Tensor2Tensor)");
    visit(
        "position", self.position,
        "position encoding (row (E) of Table 3: learned); in self-attention only: rotary (RoPE), "
        "alibi, t5_bias, relative (Shaw et al., distances clipped at 16); the bias of alibi is "
        "symmetric in the encoder; it was published for decoder-only models, which attend only to "
        "the left");
    visit("max_positions", self.max_positions,
          "size of the learned position table; with learned positions search truncates longer "
          "sentences");
    visit("word_positions", self.word_positions,
          "not in the paper, parsing only: the decoder input also encodes the number of leaves "
          "generated so far; best with data.tokenizer=words");
    visit(
        "deterministic_attention", self.deterministic_attention,
        "not in the paper, parsing only (Ma et al. 2017, Liu et al. 2018): the decoder input also "
        "contains the encoder's output for the next word; requires data.tokenizer=words");
    visit("norm", self.norm,
          "layer normalization after the residual sum (post, the paper), before the sub-layer "
          "(pre), or DeepNorm (deep): after the sum, with a scaled residual and initialization");
    visit("norm_kind", self.norm_kind, "layer normalization (the paper), RMSNorm or ScaleNorm");
    visit("qk_norm", self.qk_norm,
          "normalization of each head's queries and keys: none, l2 (scores are multiplied by a "
          "learned factor instead of 1/√d_k) or rms");
    visit("qk_norm_length", self.qk_norm_length,
          "with qk_norm=l2: L in the factor's initial value, log2(L² - L); its authors use the "
          "97.5th percentile of sentence lengths");
    visit("bias", self.bias, "biases in the attention projections");
    visit("feed_forward_bias", self.feed_forward_bias,
          "biases in the feed-forward networks; those of norms depend on norm_kind alone");
    visit("activation", self.activation,
          "activation of the feed-forward networks; geglu and swiglu are gated, with a third "
          "matrix; 2/3 of d_ff gives the same number of parameters");
    visit("initialization", self.initialization,
          "initial weights of linear layers: Xavier uniform (xavier), or divided by √(number of "
          "sub-layers) before each residual sum (depth)");
    visit("mup_base", self.mup_base,
          "µP (Yang et al. 2021): d_model of the base model whose learning rate is used; d_ff, d_k "
          "and d_v must differ from the base's by the same factor, heads must be the same; 0: off");
    visit("embedding_sharing", self.embedding_sharing,
          "which of source embedding, target embedding and output projection share one matrix");
  }
  bool operator==(const TransformerConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
  /// Maximum number of positions, if the position encoding is limited.
  std::optional<int64_t> max_length() const;
  bool counts_words() const { return word_positions || deterministic_attention; }
  std::string muon_conflict() const {
    return mup_base == 0 ? "" : "requires model.mup_base 0: µP's rates are those of Adam";
  }
  /// Whether the layers of the decoder, or else those of the encoder, have self-attention.
  bool self_attends(bool decoder) const {
    return decoder ? decoder_mixer.is_attention() : encoder_mixer.is_attention();
  }
  /// Layers of the decoder.
  int64_t decoder_depth() const { return decoder_layers.value_or(layers); }
  /// Heads of keys and values.
  int64_t key_heads() const { return kv_heads.value_or(heads); }
  /// d_k and d_v.
  int64_t key_width() const { return d_k.value_or(d_model / heads); }
  int64_t value_width() const { return d_v.value_or(d_model / heads); }
  /// d_model of µP's base model; without µP the model is its own base.
  int64_t base_width() const { return mup_base > 0 ? mup_base : d_model; }
  double width_ratio() const {
    return static_cast<double>(d_model) / static_cast<double>(base_width());
  }
};

/// The mixer of the encoder or, causal, of the decoder.
struct SideMixer {
  MixerConfig config;
  bool causal;         ///< the decoder
  bool bidirectional;  ///< recurrence only
};
inline SideMixer encoder_mixer(const TransformerConfig& config) {
  return {config.encoder_mixer, false, config.encoder_mixer.bidirectional};
}
inline SideMixer decoder_mixer(const TransformerConfig& config) {
  return {config.decoder_mixer, true, false};
}

}  // namespace attn
