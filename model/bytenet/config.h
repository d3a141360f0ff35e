// The options of ByteNet (Kalchbrenner et al. 2016) over subwords.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "model/limits.h"
#include "model/vocabulary.h"

namespace attn {

struct ByteNetConfig {
  int64_t d_model = 256;
  int64_t hidden = 128;
  int64_t kernel = 3;
  int64_t repeats = 4;
  std::vector<int64_t> dilations = {1, 2, 4, 8};
  double length_factor = 1.5;
  double dropout = 0.2;
  EmbeddingSharing embedding_sharing = EmbeddingSharing::all;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("d_model", self.d_model, "width of the embeddings and between the residual blocks");
    visit("hidden", self.hidden,
          "width of the convolutions inside the blocks; the paper: d_model / 2");
    visit("kernel", self.kernel, "kernel size of the convolutions in positions; odd");
    visit("repeats", self.repeats, "number of repetitions of the dilations in encoder and decoder");
    visit("dilations", self.dilations, "dilations of the convolutions, one residual block each");
    visit("length_factor", self.length_factor,
          "length of the encoder output relative to the source; target positions beyond it have no "
          "encoder output");
    visit("dropout", self.dropout, "dropout on embeddings and on the output of each block");
    visit("embedding_sharing", self.embedding_sharing,
          "which of source embedding, target embedding and output projection share one matrix");
  }
  bool operator==(const ByteNetConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const {
    constexpr double kMaxLengthFactor = 100;
    require_between("d_model", d_model, 1, kMaxWidth);
    require_between("hidden", hidden, 1, kMaxWidth);
    require_between("kernel", kernel, 1, kMaxKernel);
    require(kernel % 2 == 1, "kernel", kernel,
            "must be odd: in the encoder it is centred on a position");
    require_between("repeats", repeats, 1, kMaxLayers);
    require(!dilations.empty() && static_cast<int64_t>(dilations.size()) <= kMaxLayers, "dilations",
            dilations.size(), "must be a list of 1 to 100 numbers");
    // Also bounds the number of parameters below 2^63.
    require(repeats * static_cast<int64_t>(dilations.size()) <= kMaxLayers, "repeats", repeats,
            "times the number of dilations must be at most 100");
    for (size_t i = 0; i < dilations.size(); ++i) {
      require_between("dilations[" + std::to_string(i) + "]", dilations[i], 1, kMaxWidth);
    }
    require_between("length_factor", length_factor, 1.0, kMaxLengthFactor);
    require_dropout("dropout", dropout);
  }
  std::optional<int64_t> max_length() const { return {}; }
  std::string muon_conflict() const { return ""; }
  /// Positions of the encoder output for a source sentence of this length.
  int64_t unfolded_length(int64_t source) const {
    return std::llround(std::ceil(static_cast<double>(source) * length_factor));
  }
};

}  // namespace attn
