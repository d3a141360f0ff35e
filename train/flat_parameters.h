// All parameters of a model in one tensor, so that an optimizer step or a norm is one operation.
#pragma once

#include <string>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// Moves the parameters and gradients of a model into one buffer each, of which they become views.
/// The model must outlive this and must not replace its parameters.
class FlatParameters {
 public:
  explicit FlatParameters(torch::nn::Module& model);
  /// Makes `model` a replica: it shares the values of `shared` and has its own gradients.
  FlatParameters(torch::nn::Module& model, const FlatParameters& shared);

  struct Slot {
    std::string name;
    int64_t offset;
    std::vector<int64_t> shape;
    bool hidden_matrix = false;  ///< see Layer::hidden_matrices
  };

  /// [P] float32, shared with the model.
  torch::Tensor values;
  torch::Tensor gradients;
  const std::vector<Slot>& slots() const { return slots_; }
  /// The view of a [P] tensor for a slot, in the shape of the parameter.
  static torch::Tensor view(const torch::Tensor& flat, const Slot& slot);

 private:
  void make_views(torch::nn::Module& model);

  std::vector<Slot> slots_;
};

}  // namespace attn
