// The options of ConvS2S, the convolutional encoder-decoder of Gehring et al. 2017; the defaults
// are the small setting published for IWSLT'14 de-en (fairseq's fconv_iwslt_de_en).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/vocabulary.h"

namespace attn {

/// Equal layers, one after another.
struct ConvolutionStack {
  int64_t layers = 4;
  int64_t width = 256;
  int64_t kernel = 3;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layers", self.layers, "number of layers");
    visit("width", self.width, "width of their outputs");
    visit("kernel", self.kernel,
          "kernel size of the convolutions in positions; odd in the encoder");
  }
  bool operator==(const ConvolutionStack&) const = default;
};

struct ConvolutionalConfig {
  int64_t d_model = 256;
  std::vector<ConvolutionStack> encoder = {{.layers = 4, .width = 256, .kernel = 3}};
  std::vector<ConvolutionStack> decoder = {{.layers = 3, .width = 256, .kernel = 3}};
  int64_t max_positions = 1024;
  double dropout = 0.2;
  EmbeddingSharing embedding_sharing = EmbeddingSharing::all;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("d_model", self.d_model, "width of the embeddings and of the pre-softmax layer");
    visit("encoder", self.encoder, "stacks of encoder layers, from the bottom");
    visit("decoder", self.decoder,
          "stacks of decoder layers, from the bottom; each layer has attention");
    visit("max_positions", self.max_positions, "longest sentence: rows of the learned positions");
    visit("dropout", self.dropout,
          "dropout on embeddings, on the input of each convolution and before the projection");
    visit("embedding_sharing", self.embedding_sharing,
          "which of source embedding, target embedding and output projection share one matrix");
  }
  bool operator==(const ConvolutionalConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
  std::optional<int64_t> max_length() const { return max_positions; }
  std::string muon_conflict() const {
    return "cannot be combined with model.architecture=convolutional, whose matrices are "
           "weight-normalized";
  }
};

/// A layer's shape; `inputs` is the width of the layer below, or of the first layer itself.
struct ConvolutionLayerShape {
  int64_t inputs, width, kernel;
};

/// The layers of some stacks, from the bottom.
std::vector<ConvolutionLayerShape> layers_of(const std::vector<ConvolutionStack>& stacks);

}  // namespace attn
