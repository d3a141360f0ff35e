#include "train/config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attn {
namespace {

// Where n lies between begin and end, from 0 to 1. A training that ends during its warm-up does not
// decay.
double share_of(double begin, double end, double n) {
  if (end <= begin) return n > begin ? 1.0 : 0.0;
  return std::clamp((n - begin) / (end - begin), 0.0, 1.0);
}

}  // namespace

double learning_rate(const TrainConfig& config, int64_t d_model, int64_t step) {
  const double n = static_cast<double>(step), warmup = static_cast<double>(config.warmup),
               last = static_cast<double>(config.steps);
  const double ramp = warmup > 0 ? std::min(1.0, n / warmup) : 1.0;
  double rate = config.learning_rate * ramp, decayed = 0.0;
  switch (config.schedule) {
    case Schedule::paper:
      rate = std::pow(static_cast<double>(d_model), -0.5) *
             std::min(std::pow(n, -0.5), n * std::pow(warmup, -1.5));
      break;
    case Schedule::inverse_sqrt:
      rate = config.learning_rate * std::min(ramp, std::sqrt(std::max(warmup, 1.0) / n));
      break;
    case Schedule::constant:
      break;
    case Schedule::cosine:
      decayed = 0.5 * (1 - std::cos(std::numbers::pi * share_of(warmup, last, n)));
      break;
    case Schedule::wsd:
      decayed = share_of(std::max(warmup, last * (1 - config.decay_share)), last, n);
      break;
  }
  return config.learning_rate_scale * rate * (1 - (1 - config.final_rate) * decayed);
}

}  // namespace attn
