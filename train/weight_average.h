// Exponential moving average of the weights (train.ema).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/libtorch.h"
#include "train/flat_parameters.h"

namespace attn {

/// x̄ ← x̄ + (1 - d) (x - x̄) after each update, with d = min(decay, (1 + t) / (10 + t)) at update
/// t, so that the initial weights are soon forgotten (TensorFlow's ExponentialMovingAverage). The
/// average is what is evaluated and saved as the model; training continues from the weights
/// themselves.
class WeightAverage {
 public:
  /// decay 0: no average.
  WeightAverage(double decay, FlatParameters& parameters) : decay_(decay), parameters_(parameters) {
    if (decay > 0) values_ = parameters.values.clone();
  }

  bool exists() const { return values_.defined(); }
  /// To be called after update `step` (from 1).
  void update(int64_t step) {
    const double t = static_cast<double>(step), decay = std::min(decay_, (1 + t) / (10 + t));
    if (exists()) values_.lerp_(parameters_.values, 1 - decay);
  }
  /// Sets the average to the model's current weights, e.g. after a checkpoint has been loaded.
  void restart() {
    if (exists()) values_.copy_(parameters_.values);
  }
  /// [P]; undefined if there is none.
  const torch::Tensor& values() const { return values_; }
  /// Exchanges the model's weights and the average, if there is one.
  void swap() {
    if (!exists()) return;
    const torch::Tensor weights = parameters_.values.clone();
    parameters_.values.copy_(values_);
    values_.copy_(weights);
  }

 private:
  double decay_;
  FlatParameters& parameters_;
  torch::Tensor values_;  // [P], or undefined; like the weights without autograd
};

/// RAII: the model has the averaged weights, if there are any.
class AveragedWeights {
 public:
  explicit AveragedWeights(WeightAverage& average) : average_(average) { average_.swap(); }
  ~AveragedWeights() { average_.swap(); }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  WeightAverage& average_;
};

}  // namespace attn
