#include "model/recurrent/recurrent.h"

#include <utility>

#include "base/check.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/embedding.h"

namespace attn {
namespace {

/// Search with the modules; no copies of the weights.
class RecurrentInference : public InferenceModel {
 public:
  explicit RecurrentInference(std::shared_ptr<RecurrentImpl> model) : model_(std::move(model)) {}

  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override {
    const torch::NoGradGuard no_grad;
    return std::make_unique<Session>(model_, source);
  }

 private:
  class Session : public DecodeSession {
   public:
    Session(std::shared_ptr<RecurrentImpl> model, const TokenSequences& source)
        : model_(std::move(model)), state_(model_->start(model_->encode(source))) {}

    torch::Tensor step(const StepRows& rows) override {
      const torch::NoGradGuard no_grad;
      return model_->project(model_->step(state_, rows));
    }

   private:
    std::shared_ptr<RecurrentImpl> model_;
    RecurrentImpl::State state_;
  };

  std::shared_ptr<RecurrentImpl> model_;
};

}  // namespace

RecurrentImpl::RecurrentImpl(const RecurrentConfig& config, const VocabularySizes& sizes)
    : Seq2SeqModel(sizes),
      embeddings(*this, validated(config).embedding_sharing, sizes, config.d_model),
      config_(config) {
  embeddings.reset_parameters();
  const int64_t context = 2 * config.hidden;
  for (int64_t i = 0; i < config.encoder_layers; ++i) {
    encoder_layers.push_back(register_module(
        "encoder_" + std::to_string(i),
        RecurrentLayer(config.cell, i == 0 ? config.d_model : context, config.hidden, true)));
  }
  for (int64_t i = 0; i < config.decoder_layers; ++i) {
    const std::string number = std::to_string(i);
    decoder_layers.push_back(register_module(
        "decoder_" + number,
        RecurrentLayer(config.cell, i == 0 ? config.d_model : config.hidden + context,
                       config.hidden, false)));
    first_states.push_back(
        register_module("first_state_" + number, Linear(context, config.hidden)));
  }
  attention = register_module("attention", RecurrentAttentionLayer(config));
  output =
      register_module("output", Linear(config.hidden + context + config.d_model, config.d_model));
}

torch::Tensor RecurrentImpl::dropped(const torch::Tensor& x) const {
  return fast_dropout(x, is_training() ? config_.dropout : 0.0);
}

torch::Tensor RecurrentImpl::embed(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N) {
  // Scaled to unit variance, as in the Transformer.
  return dropped(
      scaled_embedding(weight_VD, tokens_N, std::sqrt(static_cast<double>(config_.d_model))));
}

Memory RecurrentImpl::encode(const TokenSequences& source) {
  const TimeMajor time(source.segments);
  torch::Tensor x = time.from_rows(embed(embeddings.of_source(), source.tokens_N));
  for (auto& layer : encoder_layers) x = dropped(layer(x, time));
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
  return dropped(output(torch::cat({top, context, embedded}, -1)).tanh());
}

torch::Tensor RecurrentImpl::decode(const TokenSequences& target_in, const Memory& memory) {
  const Segments& rows = target_in.segments;
  const TimeMajor time(rows);
  const std::vector<torch::Tensor> first = first_states_of(memory);
  const torch::Tensor embedded_ND = embed(embeddings.of_target(), target_in.tokens_N);
  torch::Tensor x_NH = time.to_rows(decoder_layers[0](time.from_rows(embedded_ND), time, first[0]));
  const torch::Tensor context_NC =
      rows.unpad(attention(rows.pad(x_NH), attention->project(memory.rows_MD, memory.segments)));
  for (size_t i = 1; i < decoder_layers.size(); ++i) {
    const torch::Tensor in = torch::cat({dropped(x_NH), context_NC}, -1);
    x_NH = time.to_rows(decoder_layers[i](time.from_rows(in), time, first[i]));
  }
  return output_rows(x_NH, context_NC, embedded_ND);
}

RecurrentImpl::State RecurrentImpl::start(const Memory& memory) {
  State state{.memory = attention->project(memory.rows_MD, memory.segments), .layers = {}};
  for (const torch::Tensor& first : first_states_of(memory)) {
    const bool lstm = config_.cell == RecurrentCell::lstm;
    state.layers.push_back({first, lstm ? torch::zeros_like(first) : torch::Tensor()});
  }
  return state;
}

torch::Tensor RecurrentImpl::step(State& state, const StepRows& rows) {
  const torch::Tensor parents_R = int64_tensor(rows.parents, device());
  for (RecurrentState& layer : state.layers) {
    layer.hidden = layer.hidden.index_select(0, parents_R);
    if (layer.cell.defined()) layer.cell = layer.cell.index_select(0, parents_R);
  }
  const torch::Tensor embedded_RD =
      embed(embeddings.of_target(), int64_tensor(rows.tokens, device()));
  state.layers[0] = decoder_layers[0]->step(embedded_RD, state.layers[0]);
  torch::Tensor x_RH = state.layers[0].hidden;
  const torch::Tensor sentences_R = int64_tensor(rows.sentences, device());
  const auto of_rows = [&](const torch::Tensor& x) { return x.index_select(0, sentences_R); };
  const torch::Tensor context_RC =
      attention(x_RH.unsqueeze(1),
                RecurrentAttentionLayerImpl::Memory{of_rows(state.memory.keys_BMA),
                                                    of_rows(state.memory.values_BMC),
                                                    of_rows(state.memory.padding_BM)})
          .squeeze(1);
  for (size_t i = 1; i < decoder_layers.size(); ++i) {
    state.layers[i] = decoder_layers[i]->step(torch::cat({x_RH, context_RC}, -1), state.layers[i]);
    x_RH = state.layers[i].hidden;
  }
  return output_rows(x_RH, context_RC, embedded_RD);
}

std::shared_ptr<const InferenceModel> RecurrentImpl::inference(const SearchBackend& backend) {
  require_backend(backend);
  return std::make_shared<RecurrentInference>(
      std::static_pointer_cast<RecurrentImpl>(shared_from_this()));
}

std::shared_ptr<Seq2SeqModel> RecurrentImpl::replica() const {
  return std::make_shared<RecurrentImpl>(config_, sizes());
}

}  // namespace attn
