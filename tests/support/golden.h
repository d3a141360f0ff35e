// Golden tensors, written by scripts in tools/goldens.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "base/safetensors.h"
#include "kernels/libtorch.h"
#include "tests/support/catch.h"
#include "tests/support/source_dir.h"
#include "tests/support/tensors.h"

namespace attn::testing {

/// The float32 tensors of tests/`file` whose names begin with `prefix`, keyed by the
/// rest of the name.
class Golden {
 public:
  Golden(const std::string& file, std::string prefix)
      : file_(kSourceDir + std::string("/tests/") + file), prefix_(std::move(prefix)) {}
  torch::Tensor operator()(const std::string& name) const {
    const TensorView& view = file_.at(prefix_ + name);
    const torch::Tensor tensor = torch::empty(view.shape, torch::kFloat32);
    std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
    return tensor;
  }
  std::string metadata(const std::string& key) const { return file_.metadata().at(key); }

 private:
  SafetensorsFile file_;
  std::string prefix_;
};

/// Sets the parameters of a module to the golden values "parameter.NAME".
inline void fill(torch::nn::Module& module, const Golden& golden) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : module.named_parameters()) {
    parameter.value().copy_(golden("parameter." + parameter.key()));
  }
}

/// Compares the gradients of a module with the golden values "gradient.NAME"; `tolerance` times the
/// largest value, or 1.
inline void check_gradients(const torch::nn::Module& module, const Golden& golden,
                            double tolerance = 1e-5) {
  for (const auto& parameter : module.named_parameters()) {
    INFO(parameter.key());
    check_close(parameter.value().grad(), golden("gradient." + parameter.key()), tolerance, 1.0);
  }
}

}  // namespace attn::testing
