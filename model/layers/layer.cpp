#include "model/layers/layer.h"

namespace attn {

void reset_layers(const torch::nn::Module& root) {
  for (const auto& module : root.modules(/*include_self=*/false)) {
    if (auto* layer = dynamic_cast<Layer*>(module.get())) layer->reset_parameters();
  }
}

}  // namespace attn
