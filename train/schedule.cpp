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

// From 1 to `final_rate` as `part` goes from 1 to 0.
double faded(double part, double final_rate) {
  return final_rate + (1 - final_rate) * part;
}

}  // namespace

double learning_rate(const TrainConfig& config, int64_t d_model, int64_t step) {
  const double n = static_cast<double>(step), warmup = static_cast<double>(config.warmup),
               last = static_cast<double>(config.steps);
  const double ramp = warmup > 0 ? std::min(1.0, n / warmup) : 1.0;
  double rate = config.learning_rate * ramp;
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
      rate *= faded(0.5 * (1 + std::cos(std::numbers::pi * share_of(warmup, last, n))),
                    config.final_rate);
      break;
    case Schedule::wsd:
      rate *= faded(1 - share_of(last * (1 - config.decay_share), last, n), config.final_rate);
      break;
  }
  return config.learning_rate_scale * rate;
}

}  // namespace attn
