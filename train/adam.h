// Section 5.3: Adam (Kingma and Ba 2015) over a flat parameter buffer.
#pragma once

#include "kernels/libtorch.h"
#include "train/config.h"
#include "train/flat_parameters.h"

namespace attn {

class Adam {
 public:
  Adam(const TrainConfig& config, FlatParameters& parameters);

  /// One update with the gradients in the buffer. `step` counts from 1 and decides the bias
  /// correction.
  void update(double learning_rate, int64_t step);

  torch::Tensor first_moment, second_moment;  ///< [P], laid out as the parameters

 private:
  TrainConfig config_;
  FlatParameters& parameters_;
};

}  // namespace attn
