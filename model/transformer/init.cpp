#include "model/transformer/init.h"

#include <cmath>

namespace attn {

void initialise(torch::nn::Module& model, int64_t d_model) {
  const torch::NoGradGuard no_grad;
  const double deviation = std::pow(static_cast<double>(d_model), -0.5);
  for (auto& parameter : model.named_parameters()) {
    const std::string& name = parameter.key();
    torch::Tensor& value = parameter.value();
    const bool bias = name.ends_with("bias");
    const bool norm = name.find("norm.") != std::string::npos;
    const bool table = name.ends_with("_weight") || name.ends_with("position.weight");
    if (bias) {
      value.zero_();
    } else if (norm) {
      value.fill_(1.0);
    } else if (table) {
      value.normal_(0.0, deviation);
    } else {
      torch::nn::init::xavier_uniform_(value);
    }
  }
}

}  // namespace attn
