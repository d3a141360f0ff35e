#include "eval/search/token_constraint.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {

void renormalize(std::span<float> logits, const uint64_t* allowed, const uint64_t* group) {
  float highest = -std::numeric_limits<float>::infinity();
  for (size_t t = 0; t < logits.size(); ++t) {
    if (is_allowed(group, t)) highest = std::max(highest, logits[t]);
  }
  double all = 0.0, kept = 0.0;
  for (size_t t = 0; t < logits.size(); ++t) {
    if (!is_allowed(group, t)) continue;
    const double mass = std::exp(static_cast<double>(logits[t]) - highest);
    all += mass;
    if (is_allowed(allowed, t)) kept += mass;
  }
  if (!(kept > 0.0)) return;  // no allowed token, or all have probability 0
  const auto lift = static_cast<float>(std::log(all / kept));
  for (size_t t = 0; t < logits.size(); ++t) {
    if (!is_allowed(group, t)) continue;
    logits[t] = is_allowed(allowed, t) ? logits[t] + lift : -std::numeric_limits<float>::infinity();
  }
}

}  // namespace attn
