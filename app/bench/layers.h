// Time of each part of the model in a training step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "kernels/libtorch.h"

namespace attn {

struct LayersBenchmarkOptions {
  int64_t length = 24;     ///< tokens per sentence, source and target
  double seconds = 1.0;    ///< seconds of measurement per part
  int64_t vocabulary = 0;  ///< 0: data.vocab_size
};

/// One kind of layer.
struct LayerTime {
  std::string name;
  int64_t count = 0;                     ///< number in the model
  double forward = 0.0, backward = 0.0;  ///< seconds per layer

  double total() const { return static_cast<double>(count) * (forward + backward); }
};

/// Times the experiment's modules on the device with a batch of data.batch_tokens. All threads work
/// on one part at a time. Training splits the batch by sentences between threads, which is faster,
/// so only the shares carry over to training.
std::vector<LayerTime> benchmark_layers(const Experiment& experiment,
                                        const LayersBenchmarkOptions& options,
                                        torch::Device device);

}  // namespace attn
