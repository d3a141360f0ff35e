#include "train/flat_parameters.h"

#include <set>

#include "model/layers/layer.h"

namespace attn {
namespace {

// Parameters are aligned to cache lines, for vector loads.
constexpr int64_t kAlignment = 16;

std::set<const void*> hidden_matrices(const torch::nn::Module& model) {
  std::set<const void*> matrices;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    const auto* layer = dynamic_cast<const Layer*>(module.get());
    if (layer == nullptr) continue;
    for (const auto& matrix : layer->hidden_matrices())
      matrices.insert(matrix.unsafeGetTensorImpl());
  }
  return matrices;
}

}  // namespace

FlatParameters::FlatParameters(torch::nn::Module& model) {
  int64_t total = 0;
  torch::TensorOptions options;
  const auto parameters = model.named_parameters();
  const std::set<const void*> hidden = hidden_matrices(model);
  for (const auto& parameter : parameters) {
    slots_.push_back({parameter.key(), total, parameter.value().sizes().vec(),
                      hidden.contains(parameter.value().unsafeGetTensorImpl())});
    total += (parameter.value().numel() + kAlignment - 1) / kAlignment * kAlignment;
    options = parameter.value().options();
  }
  values = torch::zeros({total}, options.requires_grad(false));
  gradients = torch::zeros({total}, options.requires_grad(false));
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < slots_.size(); ++i) {
    view(values, slots_[i]).copy_(parameters[i].value());
  }
  make_views(model);
}

FlatParameters::FlatParameters(torch::nn::Module& model, const FlatParameters& shared)
    : values(shared.values), gradients(torch::zeros_like(shared.gradients)), slots_(shared.slots_) {
  make_views(model);
}

void FlatParameters::make_views(torch::nn::Module& model) {
  const torch::NoGradGuard no_grad;
  auto parameters = model.named_parameters();
  for (size_t i = 0; i < slots_.size(); ++i) {
    torch::Tensor& parameter = parameters[i].value();
    TORCH_CHECK(parameters.size() == slots_.size() && parameter.sizes() == slots_[i].shape,
                "the replica has different parameters from the model");
    parameter.set_data(view(values, slots_[i]));
    parameter.mutable_grad() = view(gradients, slots_[i]);
  }
}

torch::Tensor FlatParameters::view(const torch::Tensor& flat, const Slot& slot) {
  return flat.narrow(0, slot.offset, c10::multiply_integers(slot.shape)).view(slot.shape);
}

}  // namespace attn
