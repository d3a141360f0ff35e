#include "train/weight_average.h"

#include <algorithm>

namespace attn {

WeightAverage::WeightAverage(double decay, FlatParameters& parameters)
    : decay_(decay), parameters_(parameters) {
  if (decay > 0) values_ = parameters.values.clone();
}

void WeightAverage::update(int64_t step) {
  if (!exists()) return;
  const torch::NoGradGuard no_grad;
  const double t = static_cast<double>(step), decay = std::min(decay_, (1 + t) / (10 + t));
  values_.lerp_(parameters_.values, 1 - decay);
}

void WeightAverage::restart() {
  if (exists()) values_.copy_(parameters_.values);
}

void WeightAverage::swap() {
  if (!exists()) return;
  const torch::NoGradGuard no_grad;
  const torch::Tensor weights = parameters_.values.clone();
  parameters_.values.copy_(values_);
  values_.copy_(weights);
}

}  // namespace attn
