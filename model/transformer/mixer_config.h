// The token mixer of a layer: Table 1's layer types. Self-attention is the paper's.
#pragma once

#include <array>
#include <cstdint>

#include "base/enum_names.h"
#include "model/layers/recurrent_cell.h"

namespace attn {

/// In the encoder a mixer reads the whole sentence or a neighbourhood centred on the position; in
/// the decoder only the position itself and earlier ones.
enum class Mixer {
  attention,             ///< section 3.2.2, over the whole sentence
  restricted_attention,  ///< over a neighbourhood (section 4)
  convolution,
  recurrence,
  none  ///< the layer has no such sub-layer
};

template <>
struct EnumNames<Mixer> {
  static constexpr auto values =
      std::to_array<EnumName<Mixer>>({{Mixer::attention, "attention"},
                                      {Mixer::restricted_attention, "restricted_attention"},
                                      {Mixer::convolution, "convolution"},
                                      {Mixer::recurrence, "recurrence"},
                                      {Mixer::none, "none"}});
};

/// The mixer of the decoder's layers, a union tagged by "kind".
struct MixerConfig {
  static constexpr std::array kTags = {"kind"};

  Mixer kind = Mixer::attention;
  int64_t window = 16;
  int64_t kernel = 3;
  int64_t dilation = 1;
  bool gated = false;
  RecurrentCell cell = RecurrentCell::lstm;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kind", self.kind,
          "layer type in place of self-attention (Table 1); none: the layer has no such "
          "sub-layer");
    switch (self.kind) {
      case Mixer::restricted_attention:
        visit(
            "window", self.window,
            "r: position i attends to positions j with |i - j| <= r / 2 in the encoder, and to the "
            "last r positions, itself included, in the decoder");
        break;
      case Mixer::convolution:
        visit("kernel", self.kernel,
              "k: number of positions; odd in the encoder, where it is "
              "centred");
        visit(
            "dilation", self.dilation,
            "base of the dilation, which is dilation^i in layer i, counted from 0; 1: no dilation");
        visit("gated", self.gated, "gated linear unit: one half of the outputs gates the other");
        break;
      case Mixer::recurrence:
        visit("cell", self.cell, "recurrent cell");
        break;
      case Mixer::attention:
      case Mixer::none:
        break;
    }
  }
  bool operator==(const MixerConfig&) const = default;

  bool is_attention() const {
    return kind == Mixer::attention || kind == Mixer::restricted_attention;
  }
  /// The distance of neighbouring positions of the convolution in a layer.
  int64_t distance(int64_t layer) const;
  /// Throws ConfigError for the option `name`.option, for `layers` layers.
  void validate(const char* name, int64_t layers) const;
};

/// That of the encoder's layers.
struct EncoderMixerConfig : MixerConfig {
  bool bidirectional = true;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    MixerConfig::fields(self, visit);
    if (self.kind == Mixer::recurrence) {
      visit("bidirectional", self.bidirectional,
            "two directions, each d_model / 2 wide, instead of one of width d_model");
    }
  }
  bool operator==(const EncoderMixerConfig&) const = default;
  /// As MixerConfig::validate.
  void validate(const char* name, int64_t layers, int64_t d_model) const;
};

}  // namespace attn
