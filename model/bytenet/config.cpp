#include "model/bytenet/config.h"

#include <cmath>
#include <string>

#include "base/check.h"

namespace attn {

void ByteNetConfig::validate() const {
  constexpr int64_t kMaxLayers = 100, kMaxWidth = 1 << 20, kMaxKernel = 1000,
                    kMaxDilation = 1 << 20;
  constexpr double kMaxLengthFactor = 100;
  const auto between = [](const std::string& name, int64_t value, int64_t max, const char* rule) {
    require(value >= 1 && value <= max, name, value, rule);
  };
  between("d_model", d_model, kMaxWidth, "must be from 1 to 1048576");
  between("hidden", hidden, kMaxWidth, "must be from 1 to 1048576");
  between("kernel", kernel, kMaxKernel, "must be 1 to 1000");
  require(kernel % 2 == 1, "kernel", kernel,
          "must be odd: in the encoder it is centred on a position");
  between("repeats", repeats, kMaxLayers, "must be 1 to 100");
  require(!dilations.empty() && static_cast<int64_t>(dilations.size()) <= kMaxLayers, "dilations",
          dilations.size(), "must be a list of 1 to 100 numbers");
  for (size_t i = 0; i < dilations.size(); ++i) {
    between("dilations[" + std::to_string(i) + "]", dilations[i], kMaxDilation,
            "must be from 1 to 1048576");
  }
  require(length_factor >= 1.0 && length_factor <= kMaxLengthFactor, "length_factor", length_factor,
          "must be 1 to 100");
  require(dropout >= 0.0 && dropout < 1.0, "dropout", dropout, "must be at least 0 and below 1");
}

int64_t ByteNetConfig::unfolded_length(int64_t source) const {
  return std::llround(std::ceil(static_cast<double>(source) * length_factor));
}

}  // namespace attn
