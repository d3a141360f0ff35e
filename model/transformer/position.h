// Section 3.5: position encodings. A new one is a value of `Position` and a case in position.cpp.
#pragma once

#include <mutex>

#include "kernels/libtorch.h"
#include "kernels/ops/rotary.h"
#include "model/layers/layer.h"
#include "model/transformer/config.h"

namespace attn {

/// [positions, d_model]: PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i + 1) = cos of the
/// same; or, with `halves`, all sines before all cosines, as in the released code (whose
/// wavelengths run from 2π to 10000·2π in d_model/2 - 1 steps).
torch::Tensor sinusoid_table(int64_t positions, int64_t d_model, bool halves = false);

/// Position information inside self-attention; none by default.
struct PositionInScores {
  torch::Tensor bias_HLM;  ///< [H, L, M], added to the scores
  Rotation rotation;       ///< of queries and keys
};

/// A position encoding: added to the embeddings, a rotation of the queries and keys of
/// self-attention, or a bias on its scores.
class PositionEncodingImpl : public torch::nn::Module, public Layer {
 public:
  explicit PositionEncodingImpl(const TransformerConfig& config);
  void reset_parameters() override;

  /// embeddings_ND plus the encoding of each row's position. TORCH_CHECKs the size of the learned
  /// table; the sinusoid table grows as needed.
  torch::Tensor forward(const torch::Tensor& embeddings_ND, const torch::Tensor& positions_N,
                        int64_t longest);

  /// For whole sentences, whose rows are at positions_N.
  PositionInScores in_scores(const torch::Tensor& positions_N, int64_t longest);
  /// For one decoding step: `rows` queries at `position`, keys up to it.
  PositionInScores in_step(int64_t rows, int64_t position, torch::Device device);
  /// [H, L, M] added to the scores of self-attention, or undefined: the hook for relative
  /// encodings. The kernels take no bias, so attention uses the reference implementation where it
  /// is defined.
  torch::Tensor attention_bias(int64_t queries, int64_t keys) const;

  torch::Tensor weight;  ///< [max_positions, d_model], only for learned positions

 private:
  torch::Tensor sinusoids(int64_t positions, torch::Device device);
  Rotation rotation(const torch::Tensor& positions_N, int64_t longest);

  Position kind_;
  int64_t d_model_, d_k_;
  torch::Tensor table_;     // sinusoids; not in checkpoints
  std::mutex table_mutex_;  // search runs several threads
};
TORCH_MODULE(PositionEncoding);

}  // namespace attn
