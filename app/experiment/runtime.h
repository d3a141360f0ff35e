// The "runtime" part of an experiment: what changes how its figures are computed, not what they
// mean. A run goes on under another one, and a finished one keeps its result.
#pragma once

#include "base/json_config.h"
#include "model/config.h"
#include "model/search_backend.h"

namespace attn {

struct RuntimeConfig {
  AttentionPath attention = AttentionPath::kernels;
  StepPath decoder = StepPath::packed;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("attention", self.attention,
          "a transformer's: the kernels, or the formula written out (the reference)");
    visit("decoder", self.decoder,
          "search's: the model's packed inference where it has one, or the modules of training");
  }
  bool operator==(const RuntimeConfig&) const = default;
};

/// The model's config with what `runtime` says of its architecture.
ModelConfig with_runtime(ModelConfig model, const RuntimeConfig& runtime);

/// Where earlier versions had the options of `runtime`: model.attention and search.decoder. Moves
/// them, so that the last patch or assignment decides, whichever of the two places it names.
void move_to_runtime(Json& config);

}  // namespace attn
