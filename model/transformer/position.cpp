#include "model/transformer/position.h"

#include <algorithm>
#include <cmath>

namespace attn {

torch::Tensor sinusoid_table(int64_t positions, int64_t d_model, bool halves) {
  const auto doubles = torch::TensorOptions(torch::kFloat64);
  const int64_t pairs = d_model / 2;
  const torch::Tensor position = torch::arange(positions, doubles).unsqueeze(1);
  // The paper divides the exponent by d_model/2, the released code by d_model/2 - 1.
  const double steps = halves ? std::max<int64_t>(pairs - 1, 1) : pairs;
  const torch::Tensor rate =
      torch::exp(torch::arange(pairs, doubles) * (-std::log(10000.0) / steps));
  const torch::Tensor angle = position * rate;
  const torch::Tensor table = halves ? torch::cat({angle.sin(), angle.cos()}, 1)
                                     : torch::stack({angle.sin(), angle.cos()}, 2).flatten(1);
  return table.to(torch::kFloat32);
}

PositionEncodingImpl::PositionEncodingImpl(const TransformerConfig& config)
    : kind_(config.position), d_model_(config.d_model), d_k_(config.d_k) {
  if (kind_ == Position::learned) {
    weight = register_parameter("weight", torch::empty({config.max_positions, config.d_model}));
  }
}

void PositionEncodingImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  if (weight.defined()) weight.normal_(0.0, std::pow(static_cast<double>(d_model_), -0.5));
}

torch::Tensor PositionEncodingImpl::forward(const torch::Tensor& embeddings_ND,
                                            const torch::Tensor& positions_N, int64_t longest) {
  switch (kind_) {
    case Position::rotary:
    case Position::none:
      return embeddings_ND;
    case Position::learned:
      TORCH_CHECK(longest <= weight.size(0), "a sentence has ", longest,
                  " positions, more than model.max_positions = ", weight.size(0));
      return embeddings_ND + weight.index_select(0, positions_N);
    case Position::sinusoidal:
    case Position::sinusoidal_halves:
      break;
  }
  return embeddings_ND + sinusoids(longest, embeddings_ND.device()).index_select(0, positions_N);
}

torch::Tensor PositionEncodingImpl::sinusoids(int64_t positions, torch::Device device) {
  const std::lock_guard lock(table_mutex_);
  if (!table_.defined() || table_.size(0) < positions || table_.device() != device) {
    const int64_t rows = std::max<int64_t>(256, 2 * positions);
    const int64_t width = kind_ == Position::rotary ? d_k_ : d_model_;
    table_ = sinusoid_table(rows, width, kind_ == Position::sinusoidal_halves).to(device);
  }
  return table_;
}

Rotation PositionEncodingImpl::rotation(const torch::Tensor& positions_N, int64_t longest) {
  if (kind_ != Position::rotary) return {};
  return {sinusoids(longest, positions_N.device()), positions_N};
}

PositionInScores PositionEncodingImpl::in_scores(const torch::Tensor& positions_N,
                                                 int64_t longest) {
  return {attention_bias(longest, longest), rotation(positions_N, longest)};
}

PositionInScores PositionEncodingImpl::in_step(int64_t rows, int64_t position,
                                               torch::Device device) {
  // The last row of the bias of whole sentences.
  torch::Tensor bias = attention_bias(position + 1, position + 1);
  if (bias.defined()) bias = bias.narrow(1, position, 1);
  if (kind_ != Position::rotary) return {bias, {}};
  const auto whole = torch::TensorOptions(device).dtype(torch::kInt64);
  return {bias, rotation(torch::full({rows}, position, whole), position + 1)};
}

torch::Tensor PositionEncodingImpl::attention_bias(int64_t queries, int64_t keys) const {
  switch (kind_) {
    case Position::sinusoidal:
    case Position::sinusoidal_halves:
    case Position::learned:
    case Position::rotary:
    case Position::none:
      break;
  }
  return {};
}

}  // namespace attn
