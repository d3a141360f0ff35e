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
  /// correction. On a CPU moments below the smallest normal number become 0. Those of parameters
  /// whose gradient stays 0, as of rare words, would decay to there in some 700 and 3,200 updates
  /// and never reach 0, and processors are slow with such numbers.
  void update(double learning_rate, int64_t step);

  torch::Tensor first_moment, second_moment;  ///< [P], laid out as the parameters

 private:
  void update_part(int64_t begin, int64_t end, double learning_rate, int64_t step);

  TrainConfig config_;
  FlatParameters& parameters_;
};

}  // namespace attn
