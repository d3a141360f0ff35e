#include "model/layers/recurrence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "kernels/ops/dropout.h"
#include "kernels/ops/linear.h"
#include "kernels/ops/recurrence.h"

namespace attn {
namespace {

// Autocast would yield bf16.
torch::Tensor float_linear(const torch::Tensor& x, const LinearWeights& layer) {
  return linear(x, layer).to(torch::kFloat32);
}

}  // namespace

TimeMajor::TimeMajor(const Segments& rows) {
  std::vector<int64_t> sentences(static_cast<size_t>(rows.count()));
  std::iota(sentences.begin(), sentences.end(), 0);
  std::stable_sort(sentences.begin(), sentences.end(),
                   [&](int64_t a, int64_t b) { return rows.length(a) > rows.length(b); });
  std::vector<int64_t> order, back(static_cast<size_t>(rows.rows())), sizes;
  for (int64_t t = 0; t < rows.longest(); ++t) {
    int64_t size = 0;
    for (const int64_t s : sentences) {
      if (rows.length(s) <= t) break;
      back[static_cast<size_t>(rows.offset(s) + t)] = static_cast<int64_t>(order.size());
      order.push_back(rows.offset(s) + t);
      ++size;
    }
    sizes.push_back(size);
  }
  // LibTorch's RNN functions do not support empty sentences.
  sentences.resize(sizes.empty() ? 0 : static_cast<size_t>(sizes.front()));
  const torch::Device device = rows.positions().device();
  order_N_ = int64_tensor(std::span<const int64_t>(order), device);
  back_N_ = int64_tensor(std::span<const int64_t>(back), device);
  sentences_B_ = int64_tensor(std::span<const int64_t>(sentences), device);
  batch_sizes_T_ = int64_tensor(std::span<const int64_t>(sizes), torch::kCPU);
}

void RecurrentState::reorder(const torch::Tensor& parents_R) {
  hidden = hidden.index_select(0, parents_R);
  if (cell.defined()) cell = cell.index_select(0, parents_R);
}

RecurrentLayerImpl::RecurrentLayerImpl(RecurrentCell cell, int64_t inputs, int64_t hidden,
                                       bool bidirectional)
    : cell_(cell), hidden_(hidden), bidirectional_(bidirectional) {
  const int64_t gates = (cell == RecurrentCell::lstm ? 4 : 3) * hidden;
  for (const char* direction : {"", "_reverse"}) {
    const auto add = [&](const char* name, torch::IntArrayRef shape) {
      parameters_.push_back(register_parameter(std::string(name) + direction, torch::empty(shape)));
    };
    add("input_weight", {gates, inputs});
    add("state_weight", {gates, hidden});
    add("input_bias", {gates});
    add("state_bias", {gates});
    if (!bidirectional) break;
  }
  reset_parameters();
}

void RecurrentLayerImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_));
  for (auto& parameter : parameters_) {
    if (parameter.dim() == 2) {
      parameter.uniform_(-bound, bound);
    } else {
      parameter.zero_();
    }
  }
  if (cell_ != RecurrentCell::lstm) return;
  // The gates are ordered input, forget, cell, output; the two biases of a gate are added.
  for (size_t i = 2; i < parameters_.size(); i += 4) {
    parameters_[i].narrow(0, hidden_, hidden_).fill_(1.0);
  }
}

std::vector<torch::Tensor> RecurrentLayerImpl::hidden_matrices() const {
  std::vector<torch::Tensor> matrices;
  for (const auto& parameter : parameters_) {
    if (parameter.dim() == 2) matrices.push_back(parameter);
  }
  return matrices;
}

// FlatParameters replaces the data of parameters, not the tensors, so these stay valid.
std::vector<torch::Tensor> RecurrentLayerImpl::weights(bool reverse) const {
  const auto first = parameters_.begin() + (reverse ? 4 : 0);
  return {first, first + 4};
}

torch::Tensor RecurrentLayerImpl::on_cpu(const torch::Tensor& x_NI, const TimeMajor& time,
                                         const torch::Tensor& first_BH) const {
  const auto recurrence = cell_ == RecurrentCell::lstm ? lstm_states : gru_states;
  const torch::Tensor first = first_BH.defined() ? time.sorted(first_BH) : torch::Tensor();
  std::vector<torch::Tensor> states;
  for (const bool reverse : {false, true}) {
    if (reverse && !bidirectional_) break;
    const std::vector<torch::Tensor> w = weights(reverse);
    const torch::Tensor gates_NG = float_linear(x_NI, {w[0], w[2]});
    states.push_back(recurrence({gates_NG, time.batch_sizes(), first, reverse}, {w[1], w[3]}));
  }
  return bidirectional_ ? torch::cat(states, 1) : states.front();
}

torch::Tensor RecurrentLayerImpl::forward(const torch::Tensor& x_NI, const TimeMajor& time,
                                          const torch::Tensor& first_BH) {
  if (runs_on_cpu_kernels(x_NI)) return on_cpu(x_NI, time, first_BH);
  const int64_t directions = bidirectional_ ? 2 : 1;
  const int64_t sentences =
      time.batch_sizes().size(0) > 0 ? time.batch_sizes()[0].item<int64_t>() : 0;
  const torch::Tensor zeros = torch::zeros({directions, sentences, hidden_}, x_NI.options());
  const torch::Tensor first =
      first_BH.defined() ? time.sorted(first_BH).unsqueeze(0).to(x_NI.scalar_type()) : zeros;
  switch (cell_) {
    case RecurrentCell::lstm:
      return std::get<0>(torch::lstm(x_NI, time.batch_sizes(), {first, zeros}, parameters_,
                                     /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0,
                                     is_training(), bidirectional_));
    case RecurrentCell::gru:
      return std::get<0>(torch::gru(x_NI, time.batch_sizes(), first, parameters_,
                                    /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0,
                                    is_training(), bidirectional_));
  }
  throw std::logic_error("unknown cell");
}

RecurrentState RecurrentLayerImpl::first(int64_t rows, const torch::TensorOptions& options) const {
  const torch::Tensor zeros_RH = torch::zeros({rows, hidden_}, options);
  return {zeros_RH, cell_ == RecurrentCell::lstm ? zeros_RH : torch::Tensor()};
}

RecurrentState RecurrentLayerImpl::step(const torch::Tensor& x_RI, const RecurrentState& before) {
  const std::vector<torch::Tensor> w = weights(/*reverse=*/false);
  if (runs_on_cpu_kernels(x_RI)) {
    const torch::Tensor inputs_RG = float_linear(x_RI, {w[0], w[2]});
    const torch::Tensor products_RG = float_linear(before.hidden, {w[1], w[3]});
    if (cell_ == RecurrentCell::gru) return {gru_step(inputs_RG, products_RG, before.hidden), {}};
    const LstmState after = lstm_step(inputs_RG, products_RG, before.cell);
    return {after.hidden_RH, after.cell_RH};
  }
  switch (cell_) {
    case RecurrentCell::lstm: {
      const auto [hidden, cell] =
          torch::lstm_cell(x_RI, {before.hidden, before.cell}, w[0], w[1], w[2], w[3]);
      return {hidden, cell};
    }
    case RecurrentCell::gru:
      return {torch::gru_cell(x_RI, before.hidden, w[0], w[1], w[2], w[3]), {}};
  }
  throw std::logic_error("unknown cell");
}

}  // namespace attn
