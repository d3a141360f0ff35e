// The "runtime" section of an experiment: choices of implementation. They change results only by
// rounding, and may change when a run is resumed.
#pragma once

#include "base/check.h"
#include "base/json_config.h"
#include "kernels/fast_path.h"

namespace attn {

/// Whether updates on a GPU are captured as CUDA graphs.
enum class GraphUse { automatic, off };

template <>
struct EnumNames<GraphUse> {
  static constexpr auto values =
      std::to_array<EnumName<GraphUse>>({{GraphUse::automatic, "auto"}, {GraphUse::off, "off"}});
};

struct RuntimeConfig {
  Kernels kernels = Kernels::automatic;
  GraphUse graphs = GraphUse::automatic;
  bool shard_optimizer = false;
  double timeout = 60.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(
        "kernels", self.kernels,
        "fast implementations of the model's formulas: auto (where they compute the formula as it "
        "is read in model/ and train/), strict (the same, and an edited formula is an error) or "
        "off (everything is computed as it is read)");
    visit("graphs", self.graphs,
          "training on a GPU: launch an update's kernels as CUDA graphs (auto: where the model "
          "allows it), or one by one (off); results are the same");
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
