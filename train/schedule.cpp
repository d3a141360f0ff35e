#include "train/schedule.h"

#include <algorithm>
#include <cmath>

namespace attn {

double learning_rate(const TrainConfig& config, int64_t d_model, int64_t step) {
  const double n = static_cast<double>(step), warmup = static_cast<double>(config.warmup);
  const double ramp = warmup > 0 ? std::min(1.0, n / warmup) : 1.0;
  double rate = 0;
  switch (config.schedule) {
    case Schedule::paper:
      rate = std::pow(static_cast<double>(d_model), -0.5) *
             std::min(std::pow(n, -0.5), n * std::pow(warmup, -1.5));
      break;
    case Schedule::inverse_sqrt:
      rate = config.learning_rate * std::min(ramp, std::sqrt(std::max(warmup, 1.0) / n));
      break;
    case Schedule::constant:
      rate = config.learning_rate * ramp;
      break;
  }
  return config.learning_rate_scale * rate;
}

}  // namespace attn
