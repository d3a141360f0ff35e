// The "runtime" section of an experiment: choices of implementation. They change results only by
// rounding, and may change when a run is resumed.
#pragma once

#include "base/check.h"
#include "base/json_config.h"
#include "kernels/fast_path.h"

namespace attn {

struct RuntimeConfig {
  Kernels kernels = Kernels::automatic;
  bool shard_optimizer = false;
  double timeout = 60.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(
        "kernels", self.kernels,
        "fast implementations of the model's formulas: auto (where they compute the formula as it "
        "is read in model/ and train/), strict (the same, and an edited formula is an error) or "
        "off (everything is computed as it is read)");
    visit("shard_optimizer", self.shard_optimizer,
          "training with several processes: shard the optimizer state (ZeRO stage 1); each process "
          "updates a part of the weights");
    visit("timeout", self.timeout,
          "training with several processes: seconds without a message after which one is "
          "considered dead");
  }
  bool operator==(const RuntimeConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const { require(timeout >= 1, "timeout", timeout, "must be 1 second or more"); }
};

}  // namespace attn
