#include "model/transformer/mixer_config.h"

#include <string>

#include "base/check.h"
#include "model/limits.h"

namespace attn {
namespace {

// Whether the positions of the last layer are at most kMaxWidth apart.
bool is_near(const MixerConfig& mixer, int64_t layers) {
  int64_t distance = 1;
  for (int64_t i = 1; i < layers && distance <= kMaxWidth; ++i) distance *= mixer.dilation;
  return distance <= kMaxWidth;
}

}  // namespace

int64_t MixerConfig::distance(int64_t layer) const {
  int64_t distance = 1;
  for (int64_t i = 0; i < layer; ++i) distance *= dilation;
  return distance;
}

void MixerConfig::validate(const char* name, int64_t layers) const {
  const auto check = [&](bool ok, const char* option, int64_t value, const char* rule) {
    require(ok, std::string(name) + "." + option, value, rule);
  };
  switch (kind) {
    case Mixer::restricted_attention:
      check(window >= 1 && window <= kMaxWidth, "window", window,
            "must be positive; kind attention has no window");
      return;
    case Mixer::convolution:
      require_between(std::string(name) + ".kernel", kernel, 1, kMaxKernel);
      require_between(std::string(name) + ".dilation", dilation, 1, 1000);
      check(dilation == 1 || (kernel > 1 && layers > 1), "dilation", dilation,
            "has no effect with kernel 1 or in a single layer");
      check(is_near(*this, layers), "dilation", dilation,
            "the positions of the last layer are more than 1048576 apart");
      return;
    case Mixer::attention:
    case Mixer::recurrence:
    case Mixer::none:
      return;
  }
}

void EncoderMixerConfig::validate(const char* name, int64_t layers, int64_t d_model) const {
  MixerConfig::validate(name, layers);
  require(kind != Mixer::convolution || kernel % 2 == 1, std::string(name) + ".kernel", kernel,
          "must be odd, since the convolution of the encoder is centred");
  require(kind != Mixer::recurrence || !bidirectional || d_model % 2 == 0, "d_model", d_model,
          "must be even with a bidirectional encoder");
}

}  // namespace attn
