// Fast path gru: gru bd9a8f99
// Fast path gru: recurrence 6ae53595
#include "model/layers/recurrence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"
#include "kernels/ops/lstm.h"

namespace attn {
namespace {

// Autocast would yield bf16.
torch::Tensor float_linear(const torch::Tensor& x, const LinearWeights& layer) {
  return linear(x, layer).to(torch::kFloat32);
}

// The states of `rows` sentences at the next step: those that have ended are left out, those that
// begin are at `begin`.
RecurrentState continued(const RecurrentState& state, const RecurrentState& begin, int64_t rows) {
  const auto resized = [rows](const torch::Tensor& x, const torch::Tensor& first) {
    if (!x.defined() || x.size(0) == rows) return x;
    if (x.size(0) > rows) return x.narrow(0, 0, rows);
    return torch::cat({x, first.narrow(0, x.size(0), rows - x.size(0))});
  };
  return {resized(state.hidden, begin.hidden), resized(state.cell, begin.cell)};
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
  order_N_ = int64_tensor(order, device);
  back_N_ = int64_tensor(back, device);
  sentences_B_ = int64_tensor(sentences, device);
  batch_sizes_T_ = int64_tensor(sizes, torch::kCPU);
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

torch::Tensor RecurrentLayerImpl::lstm_on_cpu(const torch::Tensor& x_NI, const TimeMajor& time,
                                              const torch::Tensor& first_BH) const {
  // Under autocast a first state from a linear layer is in bf16.
  const torch::Tensor first =
      first_BH.defined() ? time.sorted(first_BH).to(torch::kFloat32) : torch::Tensor();
  std::vector<torch::Tensor> states;
  for (const bool reverse : {false, true}) {
    if (reverse && !bidirectional_) break;
    const std::vector<torch::Tensor> w = weights(reverse);
    const torch::Tensor gates_NG = float_linear(x_NI, {w[0], w[2]});
    states.push_back(lstm_states({gates_NG, time.batch_sizes(), first, reverse}, {w[1], w[3]}));
  }
  return bidirectional_ ? torch::cat(states, 1) : states.front();
}

torch::Tensor RecurrentLayerImpl::forward(const torch::Tensor& x_NI, const TimeMajor& time,
                                          const torch::Tensor& first_BH) {
  const bool gru_on_cpu = cell_ == RecurrentCell::gru && on_cpu_path(x_NI);
  if (gru_on_cpu || !ComputeScope::takes(path())) return as_read(x_NI, time, first_BH);
  if (on_cpu_path(x_NI)) return lstm_on_cpu(x_NI.to(torch::kFloat32), time, first_BH);
  // In fp32, as on a CPU: autocast converts cuDNN's operands to fp16, whatever its type, and by
  // default cuDNN rounds those of recurrences to TF32.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  at::globalContext().setAllowTF32CuDNN(false);
  const torch::Tensor x = x_NI.to(torch::kFloat32);
  const int64_t directions = bidirectional_ ? 2 : 1;
  const int64_t sentences =
      time.batch_sizes().size(0) > 0 ? time.batch_sizes()[0].item<int64_t>() : 0;
  const torch::Tensor zeros = torch::zeros({directions, sentences, hidden_}, x.options());
  const torch::Tensor first =
      first_BH.defined() ? time.sorted(first_BH).unsqueeze(0).to(torch::kFloat32) : zeros;
  // cuDNN has gradients in training mode alone, in which the module need not be for them.
  const bool train = torch::GradMode::is_enabled();
  switch (cell_) {
    case RecurrentCell::lstm:
      return std::get<0>(torch::lstm(x, time.batch_sizes(), {first, zeros}, parameters_,
                                     /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0, train,
                                     bidirectional_));
    case RecurrentCell::gru:
      return std::get<0>(torch::gru(x, time.batch_sizes(), first, parameters_,
                                    /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0, train,
                                    bidirectional_));
  }
  throw std::logic_error("unknown cell");
}

RecurrentState RecurrentLayerImpl::first(int64_t rows, const torch::TensorOptions& options) const {
  const torch::Tensor zeros_RH = torch::zeros({rows, hidden_}, options);
  return {zeros_RH, cell_ == RecurrentCell::lstm ? zeros_RH : torch::Tensor()};
}

torch::Tensor RecurrentLayerImpl::as_read(const torch::Tensor& x_NI, const TimeMajor& time,
                                          const torch::Tensor& first_BH) {
  // Formula recurrence: fast paths gru, lstm, transformer_step, recurrent_step.
  const torch::IntArrayRef sizes(time.batch_sizes().const_data_ptr<int64_t>(),
                                 static_cast<size_t>(time.batch_sizes().size(0)));
  std::vector<torch::Tensor> directions;
  for (const bool reverse : {false, true}) {
    if (reverse && !bidirectional_) break;
    const std::vector<torch::Tensor> w = weights(reverse);
    const torch::Tensor inputs_NG = float_linear(x_NI, {w[0], w[2]});
    const auto inputs_T = inputs_NG.split_with_sizes(sizes);
    RecurrentState begin = first(sizes.empty() ? 0 : sizes[0], inputs_NG.options());
    if (first_BH.defined()) begin.hidden = time.sorted(first_BH);
    RecurrentState state = begin;
    std::vector<torch::Tensor> states_T(sizes.size(), begin.hidden);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const size_t t = reverse ? sizes.size() - 1 - i : i;
      state = continued(state, begin, sizes[t]);
      state = cell(inputs_T[t], float_linear(state.hidden, {w[1], w[3]}), state);
      states_T[t] = state.hidden;
    }
    directions.push_back(sizes.empty() ? begin.hidden : torch::cat(states_T));
  }
  return torch::cat(directions, 1);
  // End of formula.
}

RecurrentState RecurrentLayerImpl::cell(const torch::Tensor& inputs_RG,
                                        const torch::Tensor& products_RG,
                                        const RecurrentState& before) {
  switch (cell_) {
    case RecurrentCell::gru: {
      // Formula gru: fast path gru.
      const auto x = inputs_RG.chunk(3, 1), h = products_RG.chunk(3, 1);
      const torch::Tensor reset = torch::sigmoid(x[0] + h[0]);
      const torch::Tensor update = torch::sigmoid(x[1] + h[1]);
      const torch::Tensor candidate = torch::tanh(x[2] + reset * h[2]);
      return {(1 - update) * candidate + update * before.hidden, {}};
      // End of formula.
    }
    case RecurrentCell::lstm: {
      if (ComputeScope::takes(FastPath::lstm, inputs_RG)) {
        const LstmState after = lstm_step(inputs_RG, products_RG, before.cell.to(torch::kFloat32));
        return {after.hidden_RH, after.cell_RH};
      }
      // Formula lstm: fast path lstm.
      const auto gates = (inputs_RG + products_RG).chunk(4, 1);
      const torch::Tensor input = torch::sigmoid(gates[0]), forget = torch::sigmoid(gates[1]);
      const torch::Tensor update = torch::tanh(gates[2]), output = torch::sigmoid(gates[3]);
      const torch::Tensor cell = forget * before.cell + input * update;
      return {output * torch::tanh(cell), cell};
      // End of formula.
    }
  }
  throw std::logic_error("unknown cell");
}

RecurrentState RecurrentLayerImpl::step(const torch::Tensor& x_RI, const RecurrentState& before) {
  const std::vector<torch::Tensor> w = weights(/*reverse=*/false);
  if (on_cpu_path(x_RI) || !ComputeScope::takes(path())) {
    return cell(float_linear(x_RI, {w[0], w[2]}), float_linear(before.hidden, {w[1], w[3]}),
                before);
  }
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const torch::Tensor x = x_RI.to(torch::kFloat32), state = before.hidden.to(torch::kFloat32);
  switch (cell_) {
    case RecurrentCell::lstm: {
      const auto [hidden, cell] =
          torch::lstm_cell(x, {state, before.cell.to(torch::kFloat32)}, w[0], w[1], w[2], w[3]);
      return {hidden, cell};
    }
    case RecurrentCell::gru:
      return {torch::gru_cell(x, state, w[0], w[1], w[2], w[3]), {}};
  }
  throw std::logic_error("unknown cell");
}

}  // namespace attn
