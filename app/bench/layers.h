// Time of each part of the model in a training step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "kernels/libtorch.h"

namespace attn {

struct LayersBenchmarkOptions {
  int64_t length = 24;     ///< tokens of every sentence, both sides
  double seconds = 1.0;    ///< of measurement per part
  int64_t vocabulary = 0;  ///< 0: data.vocab_size
};

/// One kind of layer.
struct LayerTime {
  std::string name;
  int64_t count = 0;                     ///< number in the model
  double forward = 0.0, backward = 0.0;  ///< seconds of one

  double total() const { return static_cast<double>(count) * (forward + backward); }
};

/// Times the experiment's modules on the device and a batch of data.batch_tokens, all threads on
/// one part at a time. (In training each thread works through all parts with some of the sentences,
/// which is faster: the shares are what to look at.)
std::vector<LayerTime> benchmark_layers(const Experiment& experiment,
                                        const LayersBenchmarkOptions& options,
                                        torch::Device device);

}  // namespace attn
