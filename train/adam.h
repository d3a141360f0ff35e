// Section 5.3: Adam (Kingma and Ba 2015) over a flat parameter buffer.
#pragma once

#include "kernels/libtorch.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/parallel/shards.h"

namespace attn {

class Adam {
 public:
  Adam(const TrainConfig& config, FlatParameters& parameters);
  /// Updates only a range of the buffers, and has only its moments.
  Adam(const TrainConfig& config, FlatParameters& parameters, FlatRange range);

  /// One update with the gradients in the buffer. `step` counts from 1, for bias correction. On a
  /// CPU subnormal moments are flushed to 0: parameters with zero gradients (rare words) would
  /// reach them after 700 to 3,200 updates, and arithmetic with subnormals is slow.
  void update(double learning_rate, int64_t step);

  torch::Tensor first_moment, second_moment;  ///< [range], in the layout of the parameters

 private:
  void update_part(int64_t begin, int64_t end, double learning_rate, int64_t step);

  TrainConfig config_;
  FlatParameters& parameters_;
  FlatRange range_;
};

}  // namespace attn
