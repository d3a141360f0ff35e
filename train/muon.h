// Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"): momentum
// whose singular values are moved towards 1, for hidden matrices. AdamW updates the rest:
// embeddings, the output projection, biases and gains.
#pragma once

#include "train/adam.h"
#include "train/optimizer.h"

namespace attn {

/// Five Newton-Schulz steps X ← aX + (bA + cA²)X with A = XXᵀ, from X = G / ‖G‖: a matrix with
/// the singular vectors of `matrix` and singular values of about 0.7 to 1.2. float32.
torch::Tensor orthogonalized(const torch::Tensor& matrix);

class Muon : public Optimizer {
 public:
  Muon(const MuonOptions& options, FlatParameters& parameters);

  void update(double learning_rate, int64_t step) override;
  /// The momentum, then AdamW's moments.
  std::vector<torch::Tensor> state() const override;
  void visit_state(const std::vector<torch::Tensor>& whole, const VisitState& visit) const override;

 private:
  void update_matrix(const FlatParameters::Slot& slot, double learning_rate);

  MuonOptions options_;
  Adam rest_;
  torch::Tensor momentum_;                          // [P]; unused parts stay untouched pages
  std::vector<const FlatParameters::Slot*> slots_;  // of the hidden matrices
};

}  // namespace attn
