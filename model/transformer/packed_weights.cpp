// What packed inference supports, and the packing of its weights.
#include "kernels/ops/linear.h"
#include "model/transformer/packed_inference.h"

namespace attn {
namespace {

NormParameters copied(const NormLayer& norm) {
  NormParameters parameters = norm->kernel_parameters();
  for (torch::Tensor* tensor : {&parameters.weight, &parameters.bias}) {
    if (tensor->defined()) *tensor = tensor->detach().clone();
  }
  return parameters;
}

RelativeVectors copied(const RelativePositions& relative) {
  if (!relative) return {};
  const RelativeVectors vectors = relative->vectors();
  return {vectors.keys.contiguous().clone(), vectors.values.contiguous().clone()};
}

PackedLinear packed(const Linear& linear, WeightType type) {
  return PackedLinear(linear->weight, linear->bias, type);
}

// Fuses several layers of the same input.
PackedLinear packed(std::initializer_list<Linear> linears, WeightType type) {
  std::vector<torch::Tensor> weights, biases;
  for (const auto& linear : linears) {
    weights.push_back(linear->weight);
    if (linear->bias.defined()) biases.push_back(linear->bias);
  }
  return PackedLinear(torch::cat(weights), biases.empty() ? torch::Tensor() : torch::cat(biases),
                      type);
}

// In a gated network, the gate's outputs come first.
PackedLinear packed_inner(const PositionwiseFeedForward& network, WeightType type) {
  if (!network->gate) return packed(network->inner, type);
  return packed({network->gate, network->inner}, type);
}

PackedInference::Layer packed(const DecoderLayer& layer, WeightType type) {
  const MultiHeadAttention &self = layer->mixer.self_attention, &cross = layer->cross_attention;
  return {.self_project = packed({self->query, self->key, self->value}, type),
          .self_output = packed(self->output, type),
          .cross_query = packed(cross->query, type),
          .cross_output = packed(cross->output, type),
          .inner = packed_inner(layer->feed_forward, type),
          .outer = packed(layer->feed_forward->outer, type),
          .self_norm = copied(layer->mixer.sublayer->norm),
          .cross_norm = copied(layer->cross_attention_sublayer->norm),
          .feed_forward_norm = copied(layer->feed_forward_sublayer->norm),
          .relative = copied(self->relative)};
}

// Whether the position encoding is supported: added to the embedding, rotary, a bias by distance,
// or relative.
bool is_known(Position position) {
  switch (position) {
    case Position::sinusoidal:
    case Position::sinusoidal_halves:
    case Position::learned:
    case Position::rotary:
    case Position::alibi:
    case Position::t5_bias:
    case Position::relative:
    case Position::none:
      return true;
  }
  return false;
}

// PackedSession applies ReLU, or SiLU's gate to networks with a third matrix.
bool is_known(Activation activation) {
  switch (activation) {
    case Activation::relu:
    case Activation::swiglu:
      return true;
    case Activation::gelu:
    case Activation::silu:
    case Activation::geglu:
      return false;
  }
  return false;
}

bool is_known(Norm norm) {
  switch (norm) {
    case Norm::post:
    case Norm::pre:
    case Norm::deep:
      return true;
  }
  return false;
}

// Whether this file implements the config. All options that it handles, or that do not matter in
// search, are set to their defaults; any other difference from the defaults is unsupported. So a
// new option falls back to the modules until it is listed here; new values of position, activation
// and norm are missing in the switches above.
bool is_known(TransformerConfig config) {
  const TransformerConfig paper;
  config.layers = paper.layers;
  config.d_model = paper.d_model;
  config.d_ff = paper.d_ff;
  config.word_positions = paper.word_positions;
  config.deterministic_attention = paper.deterministic_attention;
  config.heads = paper.heads;
  config.kv_heads = paper.kv_heads;
  config.d_k = paper.d_k;
  config.d_v = paper.d_v;
  config.bias = paper.bias;
  config.feed_forward_bias = paper.feed_forward_bias;
  if (is_known(config.activation)) config.activation = paper.activation;
  config.initialization = paper.initialization;
  config.qk_norm_length = paper.qk_norm_length;  // affects only the initialization
  config.encoder_mixer = paper.encoder_mixer;    // the encoder runs by its modules
  if (config.decoder_mixer.is_attention()) config.decoder_mixer = paper.decoder_mixer;
  if (is_known(config.norm)) config.norm = paper.norm;
  config.norm_kind = paper.norm_kind;
  config.embedding_sharing = paper.embedding_sharing;
  if (is_known(config.position)) config.position = paper.position;
  config.max_positions = paper.max_positions;
  config.dropout = paper.dropout;
  config.attention_dropout = paper.attention_dropout;
  config.activation_dropout = paper.activation_dropout;
  return config == paper;
}

}  // namespace

bool PackedInference::serves(const TransformerImpl& model) {
  return is_known(model.config()) && model.device().is_cpu() &&
         model.embeddings.of_output().scalar_type() == torch::kFloat32;
}

PackedInference::PackedInference(std::shared_ptr<TransformerImpl> of, WeightType weights)
    : model(std::move(of)), projection(model->embeddings.of_output(), {}, weights) {
  const torch::NoGradGuard no_grad;
  for (const auto& layer : *model->decoder->layers) {
    layers.push_back(
        packed(DecoderLayer(std::dynamic_pointer_cast<DecoderLayerImpl>(layer)), weights));
  }
  if (const auto& norm = model->decoder->final_norm) {
    final_norm = copied(norm);
  }
  // With int8 the memory is computed in bf16 where the processor has it: int8 rounds more.
  const bool bf16 = weights != WeightType::fp32 && has_bf16_tiles();
  const Precision precision = bf16 ? Precision::bf16 : Precision::fp32;
  memory_weights = std::make_unique<PackedWeights>(precision, /*gradients=*/false);
}

}  // namespace attn
