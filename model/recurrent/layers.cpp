#include "model/recurrent/layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace attn {

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

// FlatParameters replaces the data of parameters, not the tensors, so these stay valid.
std::vector<torch::Tensor> RecurrentLayerImpl::weights(bool reverse) const {
  const auto first = parameters_.begin() + (reverse ? 4 : 0);
  return {first, first + 4};
}

torch::Tensor RecurrentLayerImpl::forward(const torch::Tensor& x_NI, const TimeMajor& time,
                                          const torch::Tensor& first_BH) {
  const int64_t directions = bidirectional_ ? 2 : 1;
  const int64_t sentences =
      time.batch_sizes().size(0) > 0 ? time.batch_sizes()[0].item<int64_t>() : 0;
  const torch::Tensor zeros = torch::zeros({directions, sentences, hidden_}, x_NI.options());
  const torch::Tensor first = first_BH.defined() ? time.sorted(first_BH).unsqueeze(0) : zeros;
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

RecurrentState RecurrentLayerImpl::step(const torch::Tensor& x_RI, const RecurrentState& before) {
  const std::vector<torch::Tensor> w = weights(/*reverse=*/false);
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

RecurrentAttentionLayerImpl::RecurrentAttentionLayerImpl(const RecurrentConfig& config)
    : kind_(config.attention) {
  const auto linear = [](int64_t in, int64_t out) {
    return Linear(torch::nn::LinearOptions(in, out).bias(false));
  };
  query = register_module("query", linear(config.hidden, config.d_attention));
  key = register_module("key", linear(config.memory_width(), config.d_attention));
  if (kind_ == RecurrentAttention::additive) {
    score_weight = register_parameter("score_weight", torch::empty({config.d_attention}));
    const double bound = 1 / std::sqrt(static_cast<double>(config.d_attention));
    torch::nn::init::uniform_(score_weight, -bound, bound);
  }
}

RecurrentAttentionLayerImpl::Memory RecurrentAttentionLayerImpl::project(
    const torch::Tensor& memory_NC, const Segments& memory) {
  return {memory.pad(key(memory_NC)), memory.pad(memory_NC), ~memory.mask()};
}

torch::Tensor RecurrentAttentionLayerImpl::forward(const torch::Tensor& queries_BLH,
                                                   const Memory& memory) {
  const auto batch = queries_BLH.size(0), length = queries_BLH.size(1);
  const torch::Tensor q_BLA = query(queries_BLH.flatten(0, 1)).view({batch, length, -1});
  torch::Tensor scores_BLM;
  switch (kind_) {
    case RecurrentAttention::additive:
      scores_BLM =
          torch::matmul((q_BLA.unsqueeze(2) + memory.keys_BMA.unsqueeze(1)).tanh(), score_weight);
      break;
    case RecurrentAttention::dot:
      scores_BLM = q_BLA.bmm(memory.keys_BMA.transpose(1, 2));
      break;
  }
  scores_BLM = scores_BLM.masked_fill(memory.padding_BM.unsqueeze(1),
                                      -std::numeric_limits<float>::infinity());
  return scores_BLM.softmax(-1).bmm(memory.values_BMC);
}

}  // namespace attn
