#include "model/transformer/mixer_config.h"

#include <string>

#include "base/check.h"

namespace attn {
namespace {

constexpr int64_t kMaxDistance = 1 << 20;  // larger sizes are probably typos

// Whether the positions of the last layer are at most kMaxDistance apart.
bool is_near(const MixerConfig& mixer, int64_t layers) {
  int64_t distance = 1;
  for (int64_t i = 1; i < layers && distance <= kMaxDistance; ++i) distance *= mixer.dilation;
  return distance <= kMaxDistance;
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
      check(window >= 1 && window <= kMaxDistance, "window", window,
            "must be positive; kind attention has no window");
      return;
    case Mixer::convolution:
      check(kernel >= 1 && kernel <= 1000, "kernel", kernel, "must be 1 to 1000");
      check(dilation >= 1 && dilation <= 1000, "dilation", dilation, "must be 1 to 1000");
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
