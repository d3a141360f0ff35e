#include "model/convolutional/config.h"

#include <string>

#include "base/check.h"

namespace attn {
namespace {

void validate_stacks(const std::string& side, const std::vector<ConvolutionStack>& stacks,
                     bool centred) {
  constexpr size_t kStacks = 100;
  constexpr int64_t kMaxLayers = 100, kMaxWidth = 1 << 20, kMaxKernel = 1000;
  require(!stacks.empty() && stacks.size() <= kStacks, side, stacks.size(),
          "must have 1 to 100 stacks of layers");
  for (size_t i = 0; i < stacks.size(); ++i) {
    const std::string place = side + "[" + std::to_string(i) + "].";
    const auto between = [&](const char* name, int64_t value, int64_t max, const char* rule) {
      require(value >= 1 && value <= max, place + name, value, rule);
    };
    between("layers", stacks[i].layers, kMaxLayers, "must be 1 to 100");
    between("width", stacks[i].width, kMaxWidth, "must be from 1 to 1048576");
    between("kernel", stacks[i].kernel, kMaxKernel, "must be 1 to 1000");
    require(!centred || stacks[i].kernel % 2 == 1, place + "kernel", stacks[i].kernel,
            "must be odd in the encoder, where it is centred on a position");
  }
}

}  // namespace

void ConvolutionalConfig::validate() const {
  constexpr int64_t kMaxWidth = 1 << 20, kMaxPositions = 1 << 24;
  require(d_model >= 1 && d_model <= kMaxWidth, "d_model", d_model, "must be positive");
  validate_stacks("encoder", encoder, /*centred=*/true);
  validate_stacks("decoder", decoder, /*centred=*/false);
  require(max_positions >= 1 && max_positions <= kMaxPositions, "max_positions", max_positions,
          "must be positive");
  require(dropout >= 0.0 && dropout < 1.0, "dropout", dropout, "must be at least 0 and below 1");
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
