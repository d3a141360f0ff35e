#include "model/transformer/transformer.h"

#include <cmath>

#include "base/check.h"
#include "model/layers/layer.h"

namespace attn {

TransformerImpl::TransformerImpl(const TransformerConfig& config, const VocabularySizes& sizes)
    : Seq2SeqModel(sizes), config_(config) {
  config.validate();
  const bool shared = config.embedding_sharing == EmbeddingSharing::all;
  require(!shared || sizes.source == sizes.target, "model.embedding_sharing", "all",
          "requires data.shared_vocabulary");
  const auto matrix = [&](const char* name, int64_t rows) {
    return register_parameter(name, torch::empty({rows, config.d_model}));
  };
  switch (config.embedding_sharing) {
    case EmbeddingSharing::all:
      shared_weight = matrix("shared_weight", sizes.target);
      break;
    case EmbeddingSharing::none:
      projection_weight = matrix("projection_weight", sizes.target);
      [[fallthrough]];
    case EmbeddingSharing::decoder:
      source_weight = matrix("source_weight", sizes.source);
      target_weight = matrix("target_weight", sizes.target);
      break;
  }
  source_embedding = register_module("source_embedding", Embedding(config, false));
  target_embedding = register_module("target_embedding", Embedding(config, config.word_positions));
  encoder = register_module("encoder", Encoder(config));
  decoder = register_module("decoder", Decoder(config));
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  const double deviation = std::pow(static_cast<double>(config_.d_model), -0.5);
  for (auto& matrix : parameters(/*recurse=*/false)) matrix.normal_(0.0, deviation);
  reset_layers(*this);
}

const torch::Tensor& TransformerImpl::source_matrix() const {
  return shared_weight.defined() ? shared_weight : source_weight;
}

const torch::Tensor& TransformerImpl::target_matrix() const {
  return shared_weight.defined() ? shared_weight : target_weight;
}

const torch::Tensor& TransformerImpl::output_weight() const {
  return projection_weight.defined() ? projection_weight : target_matrix();
}

Memory TransformerImpl::encode(const TokenSequences& source) {
  const Segments& rows = source.segments;
  const torch::Tensor x_ND =
      source_embedding(source_matrix(), source.tokens_N, rows.positions(), rows.longest());
  const AttentionSpec self{
      .queries = rows,
      .keys = rows,
      .position = source_embedding->position->in_scores(rows.positions(), rows.longest())};
  return {encoder(x_ND, self), rows};
}

torch::Tensor TransformerImpl::decode(const TokenSequences& target_in, const Memory& memory) {
  const Segments& rows = target_in.segments;
  const torch::Tensor x_ND = target_embedding(target_matrix(), target_in.tokens_N, rows.positions(),
                                              rows.longest(), target_in.second_N);
  const AttentionSpec self{
      .queries = rows,
      .keys = rows,
      .causal = true,
      .position = target_embedding->position->in_scores(rows.positions(), rows.longest())};
  return decoder(x_ND, memory.rows_MD, self,
                 AttentionSpec{.queries = rows, .keys = memory.segments});
}

std::shared_ptr<Seq2SeqModel> TransformerImpl::replica() const {
  return std::make_shared<TransformerImpl>(config_, sizes());
}

DecoderState TransformerImpl::start(const Memory& memory) {
  return decoder->start(memory.rows_MD, memory.segments);
}

torch::Tensor TransformerImpl::step(DecoderState& state, const StepRows& step) {
  const auto rows = static_cast<int64_t>(step.tokens.size());
  const int64_t position = state.position();
  for (auto& earlier : state.backpointers) {
    std::vector<int32_t> moved(step.tokens.size());
    for (int64_t r = 0; r < rows; ++r) moved[r] = earlier[step.parents[r]];
    earlier.swap(moved);
  }
  // The rows of the new step point to themselves.
  std::vector<int32_t> self(step.tokens.size());
  for (int64_t r = 0; r < rows; ++r) self[r] = static_cast<int32_t>(r);
  state.backpointers.push_back(std::move(self));
  state.rows_of_sentence.assign(state.memory.count(), 0);
  for (const int64_t sentence : step.sentences) ++state.rows_of_sentence[sentence];

  return decoder->step(embed_step(step, position), state,
                       target_embedding->position->in_step(rows, position, device()));
}

torch::Tensor TransformerImpl::embed_step(const StepRows& rows, int64_t position) {
  const torch::Tensor tokens_R = int64_tensor(rows.tokens, device());
  return target_embedding(
      target_matrix(), tokens_R, torch::full_like(tokens_R, position), position + 1,
      rows.second.empty() ? torch::Tensor() : int64_tensor(rows.second, device()));
}

}  // namespace attn
