#include "model/transformer/position.h"

#include <algorithm>
#include <cmath>

#include "kernels/compute_scope.h"

namespace attn {
namespace {

// ALiBi's slopes, [heads] (`get_slopes` in the authors' code).
torch::Tensor alibi_slopes(int64_t heads, torch::Device device) {
  const auto reals = torch::TensorOptions(device).dtype(torch::kFloat32);
  int64_t power = 1;  // the largest power of two up to `heads`
  while (2 * power <= heads) power *= 2;
  const double step = -8.0 / static_cast<double>(power);
  // For 2 power heads, slopes are half a step apart: the first, the third, and so on.
  return torch::exp2(torch::cat({torch::arange(1, power + 1, reals) * step,
                                 (torch::arange(heads - power, reals) + 0.5) * step}));
}

}  // namespace

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

torch::Tensor distances(int64_t queries, int64_t keys, torch::Device device) {
  // Formula score_bias: fast paths attention, packed_search.
  const torch::Tensor positions =
      torch::arange(keys, torch::TensorOptions(device).dtype(torch::kInt64));
  return positions.unsqueeze(0) - positions.narrow(0, keys - queries, queries).unsqueeze(1);
  // End of formula.
}

torch::Tensor alibi_bias(int64_t heads, const torch::Tensor& distances_P) {
  return -alibi_slopes(heads, distances_P.device()).unsqueeze(1) * distances_P.abs();
}

torch::Tensor t5_buckets(bool causal, const torch::Tensor& distance) {
  const int64_t buckets = causal ? kT5Buckets : kT5Buckets / 2, exact = buckets / 2;
  const torch::Tensor far = causal ? (-distance).clamp_min(0) : distance.abs();
  const double range = std::log(static_cast<double>(kT5MaxDistance) / static_cast<double>(exact));
  constexpr double kRounding = 1e-6;  // a power of two is the first of its bucket
  const torch::Tensor wide = (exact + kRounding +
                              (far.clamp_min(exact).to(torch::kFloat64) / exact).log() / range *
                                  static_cast<double>(buckets - exact))
                                 .to(torch::kInt64)
                                 .clamp_max(buckets - 1);
  const torch::Tensor bucket = torch::where(far < exact, far, wide);
  return causal ? bucket : bucket + (distance > 0).to(torch::kInt64) * buckets;
}

torch::Tensor rotate(const torch::Tensor& x_NE, const Rotation& rotation) {
  if (!rotation.defined()) return x_NE;
  TORCH_CHECK(x_NE.dim() == 2 && x_NE.size(0) == rotation.positions_N.size(0) &&
                  x_NE.size(1) % rotation.table_PK.size(1) == 0,
              "rotate: rows ", x_NE.sizes(), ", ", rotation.positions_N.size(0),
              " positions, width ", rotation.table_PK.size(1));
  if (ComputeScope::takes(FastPath::rotary, x_NE)) return fast_rotate(x_NE, rotation);
  // Formula rotary: fast paths rotary, packed_search.
  const int64_t pairs = rotation.table_PK.size(1) / 2;
  const torch::Tensor line = rotation.table_PK.index_select(0, rotation.positions_N);
  const torch::Tensor angles = line.view({line.size(0), 1, pairs, 2});
  const torch::Tensor sine = angles.select(3, 0), cosine = angles.select(3, 1);
  const torch::Tensor x = x_NE.to(torch::kFloat32).view({x_NE.size(0), -1, pairs, 2});
  const torch::Tensor even = x.select(3, 0), odd = x.select(3, 1);
  return torch::stack({even * cosine - odd * sine, even * sine + odd * cosine}, 3)
      .flatten(1)
      .to(x_NE.scalar_type());
  // End of formula.
}

torch::Tensor bias_of_scores(const torch::Tensor& bias_HP, int64_t queries, int64_t keys) {
  // Formula score_bias: fast paths attention, packed_search.
  const torch::Tensor at = distances(queries, keys, bias_HP.device()) + bias_HP.size(1) / 2;
  return bias_HP.index_select(1, at.flatten()).view({bias_HP.size(0), queries, keys});
  // End of formula.
}

PositionEncodingImpl::PositionEncodingImpl(const TransformerConfig& config, bool causal)
    : kind_(config.position),
      causal_(causal),
      d_model_(config.d_model),
      d_k_(config.key_width()),
      heads_(config.heads),
      deviation_(std::pow(static_cast<double>(config.base_width()), -0.5)) {
  if (kind_ == Position::learned) {
    weight = register_parameter("weight", torch::empty({config.max_positions, config.d_model}));
  } else if (kind_ == Position::t5_bias && config.self_attends(causal)) {
    weight = register_parameter("weight", torch::empty({kT5Buckets, config.heads}));
  }
}

void PositionEncodingImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  if (weight.defined()) weight.normal_(0.0, deviation_);
}

torch::Tensor PositionEncodingImpl::forward(const torch::Tensor& embeddings_ND,
                                            const torch::Tensor& positions_N, int64_t longest) {
  // Formula position: fast path gpu_embedding.
  switch (kind_) {
    case Position::rotary:
    case Position::alibi:
    case Position::t5_bias:
    case Position::relative:
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
  // End of formula.
}

torch::Tensor PositionEncodingImpl::table(int64_t positions, torch::Device device) {
  const bool adds = kind_ == Position::sinusoidal || kind_ == Position::sinusoidal_halves;
  return adds ? sinusoids(positions, device) : torch::Tensor();
}

torch::Tensor PositionEncodingImpl::sinusoids(int64_t positions, torch::Device device) {
  const std::lock_guard lock(table_mutex_);
  if (tables_.empty() || tables_.back().size(0) < positions || tables_.back().device() != device) {
    const int64_t rows = std::max<int64_t>(256, 2 * positions);
    const int64_t width = kind_ == Position::rotary ? d_k_ : d_model_;
    tables_.push_back(sinusoid_table(rows, width, kind_ == Position::sinusoidal_halves).to(device));
  }
  return tables_.back();
}

Rotation PositionEncodingImpl::rotation(const torch::Tensor& positions_N, int64_t longest) {
  if (kind_ != Position::rotary) return {};
  return {sinusoids(longest, positions_N.device()), positions_N};
}

PositionInScores PositionEncodingImpl::in_scores(const torch::Tensor& positions_N,
                                                 int64_t longest) {
  return {.bias_HP = attention_bias(std::max<int64_t>(longest, 1), positions_N.device()),
          .rotation = rotation(positions_N, longest)};
}

torch::Tensor PositionEncodingImpl::attention_bias(int64_t positions, torch::Device device) const {
  const torch::Tensor distances_P =
      torch::arange(1 - positions, positions, torch::TensorOptions(device).dtype(torch::kInt64));
  if (kind_ == Position::alibi) return alibi_bias(heads_, distances_P);
  // Without a weight there is nothing to add it to.
  if (kind_ != Position::t5_bias || !weight.defined()) return {};
  return weight.index_select(0, t5_buckets(causal_, distances_P)).t();
}

}  // namespace attn
