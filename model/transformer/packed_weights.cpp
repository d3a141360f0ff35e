// Packs the weights of packed inference.
#include "kernels/ops/linear.h"
#include "model/transformer/fast_options.h"
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

PackedInference::Around copied(const Sublayer& sublayer) {
  return {copied(sublayer->norm), sublayer->residual_scale};
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
          .around_self = copied(layer->mixer.sublayer),
          .around_cross = copied(layer->cross_attention_sublayer),
          .around_feed_forward = copied(layer->feed_forward_sublayer),
          .relative = copied(self->relative)};
}

}  // namespace

bool PackedInference::serves(const TransformerImpl& model) {
  return option_as_read(FastPath::packed_search, model.config()).empty() &&
         on_cpu_path(model.device()) &&
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
