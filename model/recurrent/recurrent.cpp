// Fast path recurrent_step: recurrent c5c8a8f8
// Fast path recurrent_step: recurrence 6ae53595
#include "model/recurrent/recurrent.h"

#include <cmath>
#include <string>

#include "model/layers/dropout.h"
#include "model/step_inference.h"

namespace attn {

RecurrentImpl::RecurrentImpl(const RecurrentConfig& config, const VocabularySizes& sizes)
    : Seq2SeqModel(config, sizes), config_(config) {
  embeddings.reset_parameters();
  for (int64_t i = 0; i < config.encoder_layers; ++i) {
    encoder_layers.push_back(register_module(
        "encoder_" + std::to_string(i), RecurrentLayer(config.cell, config.encoder_inputs(i),
                                                       config.hidden, config.bidirectional(i))));
  }
  const int64_t memory = config.memory_width();
  for (int64_t i = 0; i < config.decoder_layers; ++i) {
    const std::string number = std::to_string(i);
    decoder_layers.push_back(register_module(
        "decoder_" + number,
        RecurrentLayer(config.cell, config.decoder_inputs(i), config.hidden, false)));
    first_states.push_back(register_module("first_state_" + number, Linear(memory, config.hidden)));
  }
  attention = register_module("attention", RecurrentAttentionLayer(config));
  output = register_module("output", Linear(config.output_inputs(), config.d_model));
}

torch::Tensor RecurrentImpl::dropped(const torch::Tensor& x) const {
  return dropped_out(x, is_training() ? config_.dropout : 0.0);
}

double RecurrentImpl::embedding_scale() const {
  // To unit variance, as in the Transformer.
  return std::sqrt(static_cast<double>(config_.d_model));
}

torch::Tensor RecurrentImpl::embed(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N) {
  return dropped(scaled_embedding(weight_VD, tokens_N, embedding_scale()));
}

Memory RecurrentImpl::encode(const TokenSequences& source) {
  const TimeMajor time(source.segments);
  torch::Tensor embedded_ND =
      scaled_embedding(embeddings.of_source(), source.tokens_N, embedding_scale());
  const torch::Tensor features_ND = embeddings.features_of(source, embedding_scale());
  if (features_ND.defined()) embedded_ND = embedded_ND + features_ND;
  torch::Tensor x = time.from_rows(dropped(embedded_ND));
  for (size_t i = 0; i < encoder_layers.size(); ++i) {
    const torch::Tensor out = encoder_layers[i](x, time);
    x = dropped(config_.has_residual(static_cast<int64_t>(i)) ? out + x : out);
  }
  return {time.to_rows(x), source.segments};
}

std::vector<torch::Tensor> RecurrentImpl::first_states_of(const Memory& memory) {
  const torch::Tensor sums_BC = memory.segments.pad(memory.rows_MD).sum(1);
  const torch::Tensor lengths_B = memory.segments.mask().sum(1, /*keepdim=*/true).clamp_min(1);
  const torch::Tensor means_BC = sums_BC / lengths_B;
  std::vector<torch::Tensor> states;
  for (auto& linear : first_states) states.push_back(linear(means_BC).tanh());
  return states;
}

torch::Tensor RecurrentImpl::output_rows(const torch::Tensor& top, const torch::Tensor& context,
                                         const torch::Tensor& embedded) {
  const torch::Tensor in = is_gnmt() ? torch::cat({top, context, embedded}, -1)  //
                                     : torch::cat({top, context}, -1);
  return dropped(output(in).tanh());
}

torch::Tensor RecurrentImpl::layer_rows(size_t i, const torch::Tensor& x_NI,
                                        const torch::Tensor& context_NC, const Forced& forced) {
  // Formula recurrent: fast path recurrent_step.
  const torch::Tensor below = i == 0 ? x_NI : dropped(x_NI);
  const torch::Tensor in = context_NC.defined() ? torch::cat({below, context_NC}, -1) : below;
  const torch::Tensor out = forced.time.to_rows(
      decoder_layers[i](forced.time.from_rows(in), forced.time, forced.first[i]));
  return config_.has_residual(static_cast<int64_t>(i)) ? out + x_NI : out;
  // End of formula.
}

RecurrentImpl::Attended RecurrentImpl::attend_at_once(const torch::Tensor& embedded_ND,
                                                      const Forced& forced) {
  // Formula recurrent: fast path recurrent_step.
  const size_t layers = is_gnmt() ? 1 : decoder_layers.size();
  torch::Tensor x_NH = embedded_ND;
  for (size_t i = 0; i < layers; ++i) x_NH = layer_rows(i, x_NH, {}, forced);
  return {x_NH, forced.rows.unpad(attention(forced.rows.pad(x_NH), forced.memory))};
  // End of formula.
}

torch::Tensor RecurrentImpl::with_fed(const torch::Tensor& embedded_RD,
                                      const torch::Tensor& fed_RF) const {
  return config_.input_feeding ? torch::cat({embedded_RD, fed_RF}, 1) : embedded_RD;
}

RecurrentImpl::Attended RecurrentImpl::attend_step(const torch::Tensor& in_RI,
                                                   std::vector<RecurrentState>& layers,
                                                   const AttentionMemory& memory) {
  const size_t count = is_gnmt() ? 1 : decoder_layers.size();
  torch::Tensor x = in_RI;
  for (size_t i = 0; i < count; ++i) {
    layers[i] = decoder_layers[i]->step(i == 0 ? x : dropped(x), layers[i]);
    x = config_.has_residual(static_cast<int64_t>(i)) ? layers[i].hidden + x : layers[i].hidden;
  }
  const auto at = attention->attend(x.unsqueeze(1), memory);
  return {x, at.contexts_BLC.squeeze(1), at.weights_BLM.squeeze(1)};
}

RecurrentImpl::Attended RecurrentImpl::attend_in_sequence(const torch::Tensor& embedded_ND,
                                                          const Forced& forced) {
  // Formula recurrent: fast path recurrent_step.
  const TimeMajor& time = forced.time;
  const AttentionMemory memory{time.sorted(forced.memory.keys_BMA),
                               time.sorted(forced.memory.values_BMC),
                               time.sorted(forced.memory.padding_BM)};
  std::vector<RecurrentState> layers;
  for (const torch::Tensor& first : forced.first) layers.push_back(state_of(time.sorted(first)));
  const torch::Tensor embedded = time.from_rows(embedded_ND);
  const int64_t* sizes = time.batch_sizes().const_data_ptr<int64_t>();
  std::vector<torch::Tensor> states, contexts, weights;
  torch::Tensor fed =
      torch::zeros({memory.keys_BMA.size(0), config_.fed_width()}, embedded.options());
  for (int64_t t = 0, row = 0; t < time.batch_sizes().size(0); row += sizes[t++]) {
    const auto active = [&](const torch::Tensor& x) { return x.narrow(0, 0, sizes[t]); };
    for (RecurrentState& layer : layers) {
      layer.hidden = active(layer.hidden);
      if (layer.cell.defined()) layer.cell = active(layer.cell);
    }
    const torch::Tensor in = with_fed(embedded.narrow(0, row, sizes[t]), active(fed));
    Attended at = attend_step(
        in, layers,
        {active(memory.keys_BMA), active(memory.values_BMC), active(memory.padding_BM)});
    if (!is_gnmt()) at.state = output_rows(at.state, at.context, {});
    fed = is_gnmt() ? at.context : at.state;
    states.push_back(at.state);
    contexts.push_back(at.context);
    if (attention->observer) weights.push_back(at.weights);
  }
  const torch::Tensor contexts_NC = time.to_rows(torch::cat(contexts));
  if (attention->observer) {
    attention->observe(
        {forced.rows.pad(time.to_rows(torch::cat(weights))), forced.rows.pad(contexts_NC)});
  }
  return {time.to_rows(torch::cat(states)), contexts_NC};
  // End of formula.
}

torch::Tensor RecurrentImpl::decode(const TokenSequences& target_in, const Memory& memory) {
  // Formula recurrent: fast path recurrent_step.
  const TimeMajor time(target_in.segments);
  const std::vector<torch::Tensor> first = first_states_of(memory);
  const torch::Tensor embedded_ND = embed(embeddings.of_target(), target_in.tokens_N);
  const AttentionMemory projected = attention->project(memory.rows_MD, memory.segments);
  const Forced forced{target_in.segments, time, first, projected};
  auto [x_NH, context_NC, _] = config_.input_feeding ? attend_in_sequence(embedded_ND, forced)
                                                     : attend_at_once(embedded_ND, forced);
  if (!is_gnmt()) {
    return config_.input_feeding ? x_NH : output_rows(x_NH, context_NC, embedded_ND);
  }
  for (size_t i = 1; i < decoder_layers.size(); ++i) {
    x_NH = layer_rows(i, x_NH, context_NC, forced);
  }
  return output_rows(x_NH, context_NC, embedded_ND);
  // End of formula.
}

RecurrentState RecurrentImpl::state_of(const torch::Tensor& hidden) const {
  const bool lstm = config_.cell == RecurrentCell::lstm;
  return {hidden, lstm ? torch::zeros_like(hidden) : torch::Tensor()};
}

RecurrentImpl::State RecurrentImpl::start(const Memory& memory) {
  State state{.memory = attention->project(memory.rows_MD, memory.segments),
              .layers = {},
              .fed = torch::zeros({memory.segments.count(), config_.fed_width()},
                                  memory.rows_MD.options())};
  for (const torch::Tensor& first : first_states_of(memory)) {
    state.layers.push_back(state_of(first));
  }
  return state;
}

torch::Tensor RecurrentImpl::step(State& state, const StepRows& rows) {
  const torch::Tensor parents_R = int64_tensor(rows.parents, device());
  for (RecurrentState& layer : state.layers) layer.reorder(parents_R);
  const torch::Tensor embedded_RD =
      embed(embeddings.of_target(), int64_tensor(rows.tokens, device()));
  const torch::Tensor sentences_R = int64_tensor(rows.sentences, device());
  const auto of_rows = [&](const torch::Tensor& x) { return x.index_select(0, sentences_R); };
  auto [x_RH, context_RC, weights_RM] =
      attend_step(with_fed(embedded_RD, state.fed.index_select(0, parents_R)), state.layers,
                  {of_rows(state.memory.keys_BMA), of_rows(state.memory.values_BMC),
                   of_rows(state.memory.padding_BM)});
  for (size_t i = 1; is_gnmt() && i < decoder_layers.size(); ++i) {
    state.layers[i] = decoder_layers[i]->step(torch::cat({x_RH, context_RC}, -1), state.layers[i]);
    const torch::Tensor& out = state.layers[i].hidden;
    x_RH = config_.has_residual(static_cast<int64_t>(i)) ? out + x_RH : out;
  }
  const torch::Tensor out_RD = output_rows(x_RH, context_RC, embedded_RD);
  state.fed = is_gnmt() ? context_RC : out_RD;
  return out_RD;
}

std::shared_ptr<const InferenceModel> RecurrentImpl::make_inference(WeightType) {
  return step_inference(*this, FastPath::recurrent_step);
}

}  // namespace attn
