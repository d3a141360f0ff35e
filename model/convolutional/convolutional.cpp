// Fast path convolutional_step: convolutional c0349809
// Fast path convolutional_step: gated_convolution 624b830a
// Fast path convolutional_step: shifted_rows da3773ae
#include "model/convolutional/convolutional.h"

#include <cmath>
#include <string>

#include "model/step_inference.h"

namespace attn {
namespace {

constexpr double kEmbeddingDeviation = 0.1;  // for tokens and for positions

// Linear layers behind dropout with probability p.
WeightNormLinear linear_after_dropout(int64_t in, int64_t out, double p) {
  return WeightNormLinear(in, out, std::sqrt((1 - p) / static_cast<double>(in)));
}

}  // namespace

ConvolutionalImpl::ConvolutionalImpl(const ConvolutionalConfig& config,
                                     const VocabularySizes& sizes)
    : Seq2SeqModel(config, sizes), config_(config) {
  const auto positions = [&](const char* name) {
    return register_parameter(name, torch::empty({config.max_positions, config.d_model}));
  };
  source_positions = positions("source_positions");
  target_positions = positions("target_positions");
  const auto encoder = layers_of(config.encoder), decoder = layers_of(config.decoder);
  const auto linear = [&](const char* name, int64_t in, int64_t out, double p) {
    return register_module(name, linear_after_dropout(in, out, p));
  };
  encoder_in = linear("encoder_in", config.d_model, encoder.front().inputs, config.dropout);
  for (size_t i = 0; i < encoder.size(); ++i) {
    encoder_layers.push_back(register_module("encoder_" + std::to_string(i),
                                             GatedConvolution(encoder[i], false, config.dropout)));
  }
  encoder_out = linear("encoder_out", encoder.back().width, config.d_model, 0.0);
  decoder_in = linear("decoder_in", config.d_model, decoder.front().inputs, config.dropout);
  for (size_t i = 0; i < decoder.size(); ++i) {
    const std::string number = std::to_string(i);
    decoder_layers.push_back(
        register_module("decoder_" + number, GatedConvolution(decoder[i], true, config.dropout)));
    attentions.push_back(register_module("attention_" + number,
                                         ConvolutionalAttention(decoder[i].width, config.d_model)));
  }
  decoder_out = linear("decoder_out", decoder.back().width, config.d_model, 0.0);
  reset_parameters();
}

void ConvolutionalImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  embeddings.reset_parameters();
  source_positions.normal_(0.0, kEmbeddingDeviation);
  target_positions.normal_(0.0, kEmbeddingDeviation);
  reset_layers(*this);
}

torch::Tensor ConvolutionalImpl::dropped(const torch::Tensor& x) const {
  return dropped_out(x, is_training() ? config_.dropout : 0.0);
}

double ConvolutionalImpl::embedding_scale() const {
  return kEmbeddingDeviation * std::sqrt(static_cast<double>(config_.d_model));
}

torch::Tensor ConvolutionalImpl::embed(const torch::Tensor& weight_VD,
                                       const torch::Tensor& positions_PD,
                                       const torch::Tensor& tokens_N,
                                       const torch::Tensor& positions_N,
                                       const torch::Tensor& features_ND) {
  const torch::Tensor tokens_ND = scaled_embedding(weight_VD, tokens_N, embedding_scale()),
                      positions_ND = scaled_embedding(positions_PD, positions_N, 1.0);
  const torch::Tensor sum_ND = tokens_ND + positions_ND;
  return dropped(features_ND.defined() ? sum_ND + features_ND : sum_ND);
}

Memory ConvolutionalImpl::encode(const TokenSequences& source) {
  const Segments& rows = source.segments;
  const torch::Tensor embedded_MD =
      embed(embeddings.of_source(), source_positions, source.tokens_N, rows.positions(),
            embeddings.features_of(source, embedding_scale()));
  torch::Tensor x = encoder_in(embedded_MD);
  for (auto& layer : encoder_layers) x = scaled_sum(layer(x, rows), layer->residual(x));
  torch::Tensor keys_MD = encoder_out(x);
  if (keys_MD.requires_grad()) {
    // Every attention adds to the encoder's gradient, through keys and through values.
    const double share = 0.5 / static_cast<double>(attentions.size());
    keys_MD.register_hook([share](const torch::Tensor& gradient) { return gradient * share; });
  }
  const torch::Tensor roots_M1 = rows.lengths_of_rows().to(torch::kFloat32).sqrt_().unsqueeze(1);
  return {torch::cat({keys_MD, scaled_sum(keys_MD, embedded_MD) * roots_M1}, 1), rows};
}

ConvolutionalMemory ConvolutionalImpl::split(const Memory& memory) const {
  const int64_t width = config_.d_model;
  return {memory.rows_MD.narrow(1, 0, width).contiguous(),
          memory.rows_MD.narrow(1, width, width).contiguous(), memory.segments};
}

template <class Convolved>
torch::Tensor ConvolutionalImpl::decode_rows(const torch::Tensor& embedded_ND, const Segments& rows,
                                             const ConvolutionalMemory& memory,
                                             Convolved&& convolved) {
  torch::Tensor x = decoder_in(embedded_ND);
  for (size_t i = 0; i < decoder_layers.size(); ++i) {
    const torch::Tensor attended = attentions[i](convolved(i, x), embedded_ND, rows, memory);
    x = scaled_sum(attended, decoder_layers[i]->residual(x));
  }
  return dropped(decoder_out(x));
}

torch::Tensor ConvolutionalImpl::decode(const TokenSequences& target_in, const Memory& memory) {
  // Formula convolutional: fast path convolutional_step.
  const Segments& rows = target_in.segments;
  const torch::Tensor embedded_ND =
      embed(embeddings.of_target(), target_positions, target_in.tokens_N, rows.positions());
  return decode_rows(embedded_ND, rows, split(memory),
                     [&](size_t i, const torch::Tensor& x) { return decoder_layers[i](x, rows); });
  // End of formula.
}

ConvolutionalImpl::State ConvolutionalImpl::start(const Memory& memory) {
  return {.memory = split(memory),
          .ancestors = {},
          .inputs = std::vector<StepInputs>(decoder_layers.size())};
}

torch::Tensor ConvolutionalImpl::step(State& state, const StepRows& rows) {
  state.ancestors.advance(rows.parents);
  const Segments of_rows = by_sentence(rows, state.memory.segments.count(), device());
  const torch::Tensor tokens_R = int64_tensor(rows.tokens, device());
  const torch::Tensor embedded_RD = embed(embeddings.of_target(), target_positions, tokens_R,
                                          torch::full_like(tokens_R, state.ancestors.steps() - 1));
  return decode_rows(embedded_RD, of_rows, state.memory, [&](size_t i, const torch::Tensor& x) {
    return decoder_layers[i]->step(x, state.inputs[i], state.ancestors);
  });
}

std::shared_ptr<const InferenceModel> ConvolutionalImpl::make_inference(WeightType) {
  return step_inference(*this, FastPath::convolutional_step);
}

}  // namespace attn
