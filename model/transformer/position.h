// Section 3.5: position encodings. How to add one: docs/howto/layer.md.
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

/// [queries, keys] int64: j - i for key j and query i; the queries are the last of the `keys`
/// positions.
torch::Tensor distances(int64_t queries, int64_t keys, torch::Device device);

/// ALiBi (Press et al. 2022): -2^(-8h/H) |i - j| for head h = 1 … H, [H, P], of distances j - i. If
/// H is not a power of two: the slopes of the largest power of two P below H, then the first,
/// third, … of 2 P heads, as in the authors' code
/// (github.com/ofirpress/attention_with_linear_biases).
torch::Tensor alibi_bias(int64_t heads, const torch::Tensor& distances_P);

/// T5's buckets of distances j - i (Raffel et al. 2020), [P] int64 below kT5Buckets: one for each
/// small distance, then logarithmically wider ones up to kT5MaxDistance; if not `causal`, half of
/// them for keys after the query.
torch::Tensor t5_buckets(bool causal, const torch::Tensor& distances_P);

/// [H, queries, keys] of a bias by distance, whose P is at least `keys`; queries as in distances().
torch::Tensor bias_of_scores(const torch::Tensor& bias_HP, int64_t queries, int64_t keys);

/// Position information inside self-attention; none by default.
struct PositionInScores {
  /// Added to the scores by distance: [H, 2 P - 1], bias_HP[h][P - 1 + j - i] for query i and key
  /// j.
  torch::Tensor bias_HP;
  Rotation rotation;  ///< rotation of queries and keys
};

/// Rotates pairs (2i, 2i + 1) of each head of x_NE [N, heads·d_k] by the angles of its row; x_NE
/// itself without a rotation. Differentiable.
torch::Tensor rotate(const torch::Tensor& x_NE, const Rotation& rotation);

/// A position encoding: added to the embeddings, a rotation of the queries and keys of
/// self-attention, or a bias on its scores.
class PositionEncodingImpl : public torch::nn::Module, public Layer {
 public:
  /// `causal`: true in the decoder.
  PositionEncodingImpl(const TransformerConfig& config, bool causal);
  void reset_parameters() override;

  /// embeddings_ND plus the encoding of each row's position. TORCH_CHECKs the size of the learned
  /// table; the sinusoid table grows as needed.
  torch::Tensor forward(const torch::Tensor& embeddings_ND, const torch::Tensor& positions_N,
                        int64_t longest);

  /// The sinusoids of at least this many positions, if they are what forward() adds; undefined
  /// otherwise.
  torch::Tensor table(int64_t positions, torch::Device device);

  /// For queries at positions_N, all below `longest`, and keys up to them.
  PositionInScores in_scores(const torch::Tensor& positions_N, int64_t longest);
  /// PositionInScores::bias_HP for sentences of at most `positions` (1 or more), or undefined.
  /// Scores keep the factor 1/√d_k with T5's bias, too, unlike in T5.
  torch::Tensor attention_bias(int64_t positions, torch::Device device) const;

  /// Learned positions: [max_positions, d_model]. T5's bias: [kT5Buckets, heads], of all layers.
  torch::Tensor weight;

 private:
  torch::Tensor sinusoids(int64_t positions, torch::Device device);
  Rotation rotation(const torch::Tensor& positions_N, int64_t longest);

  Position kind_;
  bool causal_;
  int64_t d_model_, d_k_, heads_;
  double deviation_;                   // standard deviation of the initial weights
  std::vector<torch::Tensor> tables_;  // sinusoids; captured updates read shorter ones
  std::mutex table_mutex_;             // search runs several threads
};
TORCH_MODULE(PositionEncoding);

}  // namespace attn
