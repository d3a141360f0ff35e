#include "model/convolutional/config.h"

#include <string>

#include "base/check.h"
#include "model/limits.h"

namespace attn {
namespace {

void validate_stacks(const std::string& side, const std::vector<ConvolutionStack>& stacks,
                     bool centred) {
  constexpr size_t kStacks = 100;
  require(!stacks.empty() && stacks.size() <= kStacks, side, stacks.size(),
          "must have 1 to 100 stacks of layers");
  int64_t layers = 0;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const std::string place = side + "[" + std::to_string(i) + "].";
    require_between(place + "layers", stacks[i].layers, 1, kMaxLayers);
    require_between(place + "width", stacks[i].width, 1, kMaxWidth);
    require_between(place + "kernel", stacks[i].kernel, 1, kMaxKernel);
    require(!centred || stacks[i].kernel % 2 == 1, place + "kernel", stacks[i].kernel,
            "must be odd in the encoder, where it is centred on a position");
    layers += stacks[i].layers;
    // Also bounds the number of parameters below 2^63.
    require(layers <= kMaxLayers, place + "layers", stacks[i].layers,
            "the stacks of a side must have at most 100 layers together");
  }
}

}  // namespace

void ConvolutionalConfig::validate() const {
  constexpr int64_t kMaxPositions = 1 << 24;
  require_between("d_model", d_model, 1, kMaxWidth);
  validate_stacks("encoder", encoder, /*centred=*/true);
  validate_stacks("decoder", decoder, /*centred=*/false);
  require_between("max_positions", max_positions, 1, kMaxPositions);
  require_dropout("dropout", dropout);
}

std::vector<ConvolutionLayerShape> layers_of(const std::vector<ConvolutionStack>& stacks) {
  std::vector<ConvolutionLayerShape> layers;
  for (const ConvolutionStack& stack : stacks) {
    for (int64_t i = 0; i < stack.layers; ++i) {
      layers.push_back(
          {layers.empty() ? stack.width : layers.back().width, stack.width, stack.kernel});
    }
  }
  return layers;
}

}  // namespace attn
