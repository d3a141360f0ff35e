#include "model/bytenet/config.h"

#include <cmath>
#include <string>

#include "base/check.h"

namespace attn {

void ByteNetConfig::validate() const {
  constexpr int64_t kDeepest = 100, kWidest = 1 << 20, kLongest = 1000, kFarthest = 1 << 20;
  constexpr double kMostUnfolded = 100;
  const auto between = [](const std::string& name, int64_t value, int64_t most, const char* rule) {
    require(value >= 1 && value <= most, name, value, rule);
  };
  between("d_model", d_model, kWidest, "must be from 1 to 1048576");
  between("hidden", hidden, kWidest, "must be from 1 to 1048576");
  between("kernel", kernel, kLongest, "must be 1 to 1000");
  require(kernel % 2 == 1, "kernel", kernel,
          "must be odd: in the encoder it is centred on a position");
  between("repeats", repeats, kDeepest, "must be 1 to 100");
  require(!dilations.empty() && static_cast<int64_t>(dilations.size()) <= kDeepest, "dilations",
          dilations.size(), "must be a list of 1 to 100 numbers");
  for (size_t i = 0; i < dilations.size(); ++i) {
    between("dilations[" + std::to_string(i) + "]", dilations[i], kFarthest,
            "must be from 1 to 1048576");
  }
  require(length_factor >= 1.0 && length_factor <= kMostUnfolded, "length_factor", length_factor,
          "must be 1 to 100");
  require(dropout >= 0.0 && dropout < 1.0, "dropout", dropout, "must be at least 0 and below 1");
}

int64_t ByteNetConfig::unfolded_length(int64_t source) const {
  return std::llround(std::ceil(static_cast<double>(source) * length_factor));
}

}  // namespace attn
