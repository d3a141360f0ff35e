#include "eval/search/config.h"

#include <cmath>

#include "base/check.h"

namespace attn {

void SearchConfig::validate() const {
  require(beam >= 1 && beam <= 10000, "beam", beam, "must be from 1 to 10000");
  require(std::abs(alpha) <= 10, "alpha", alpha, "must be from -10 to 10");  // false for NaN
  require(extra_length >= 0 && extra_length <= 1000000, "extra_length", extra_length,
          "must be from 0 to 1000000");
  require(nbest >= 1, "nbest", nbest, "must be positive");
  require(known_tags >= 0, "known_tags", known_tags, "must be 0 or more");
  require(nbest <= beam, "nbest", nbest, "must be at most beam");
  require(weights == WeightType::fp32 || decoder == StepPath::packed, "weights", enum_name(weights),
          "requires runtime.decoder packed");
}

double length_penalty(const SearchConfig& config, int64_t length) {
  const auto n = static_cast<double>(length);
  switch (config.penalty) {
    case LengthPenalty::gnmt:
      return std::pow((5.0 + n) / 6.0, config.alpha);
    case LengthPenalty::power:
      return std::pow(n, config.alpha);
    case LengthPenalty::none:
      break;
  }
  return 1.0;
}

}  // namespace attn
