// The "runtime" section of an experiment: choices of implementation. They change results only by
// rounding, and may change when a run is resumed.
#pragma once

#include "base/json_config.h"
#include "model/config.h"
#include "model/search_backend.h"

namespace attn {

struct RuntimeConfig {
  AttentionPath attention = AttentionPath::kernels;
  StepPath decoder = StepPath::packed;
  bool shard_optimizer = false;
  double timeout = 60.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("attention", self.attention,
          "attention of the Transformer: optimized kernels, or the reference implementation");
    visit("decoder", self.decoder,
          "decoder in search: packed inference if the model supports it, or the training modules");
    visit("shard_optimizer", self.shard_optimizer,
          "training with several processes: shard the optimizer state (ZeRO stage 1); each process "
          "updates a part of the weights");
    visit("timeout", self.timeout,
          "training with several processes: seconds without a message after which one is "
          "considered dead");
  }
  bool operator==(const RuntimeConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
};

/// The model config with the runtime options applied.
ModelConfig with_runtime(ModelConfig model, const RuntimeConfig& runtime);

/// Moves the options model.attention and search.decoder of earlier versions to "runtime". Called
/// after each patch, so that the last one takes effect.
void move_to_runtime(Json& config);

/// Throws ConfigError if a Transformer's model.attention is one of the recurrent architecture,
/// which move_to_runtime() leaves in place. Reading alone would ignore the recurrent default.
void require_no_recurrent_attention(const Json& config);

}  // namespace attn
