#include "model/bytenet/config.h"

#include <cmath>
#include <string>

#include "base/check.h"
#include "model/limits.h"

namespace attn {

void ByteNetConfig::validate() const {
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

int64_t ByteNetConfig::unfolded_length(int64_t source) const {
  return std::llround(std::ceil(static_cast<double>(source) * length_factor));
}

}  // namespace attn
