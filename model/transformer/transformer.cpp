#include "model/transformer/transformer.h"

#include <cmath>

#include "base/check.h"
#include "model/layers/layer.h"
#include "model/transformer/scaling.h"

namespace attn {

TransformerImpl::TransformerImpl(const TransformerConfig& config, const VocabularySizes& sizes)
    : Seq2SeqModel(sizes),
      embeddings(*this, validated(config).embedding_sharing, sizes, config.d_model),
      config_(config) {
  source_embedding = register_module("source_embedding", Embedding(config, false, false));
  target_embedding =
      register_module("target_embedding", Embedding(config, config.word_positions, true));
  encoder = register_module("encoder", Encoder(config));
  decoder = register_module("decoder", Decoder(config));
  set_scales(config, *encoder, *decoder);
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  embeddings.reset_parameters();
  if (config_.mup_base > 0) {  // the standard deviation of the base, as is the factor √mup_base
    const torch::NoGradGuard no_grad;
    for (auto& matrix : parameters(/*recurse=*/false))
      matrix.mul_(std::sqrt(config_.width_ratio()));
  }
  reset_layers(*this);
}

Memory TransformerImpl::encode(const TokenSequences& source) {
  const Segments& rows = source.segments;
  const torch::Tensor x_ND = source_embedding(
      embeddings.of_source(), source.tokens_N, rows.positions(), rows.longest(),
      /*second_N=*/torch::Tensor(), embeddings.features_of(source, source_embedding->scale()));
  const AttentionSpec self{
      .queries = rows,
      .keys = rows,
      .position = source_embedding->position->in_scores(rows.positions(), rows.longest())};
  return {encoder(x_ND, self), rows};
}

torch::Tensor TransformerImpl::decode(const TokenSequences& target_in, const Memory& memory) {
  const Segments& rows = target_in.segments;
  const torch::Tensor x_ND = target_embedding(embeddings.of_target(), target_in.tokens_N,
                                              rows.positions(), rows.longest(), target_in.second_N);
  const AttentionSpec self{
      .queries = rows,
      .keys = rows,
      .causal = true,
      .position = target_embedding->position->in_scores(rows.positions(), rows.longest())};
  return output_rows(
      decoder(x_ND, memory.rows_MD, self, AttentionSpec{.queries = rows, .keys = memory.segments}));
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

  return output_rows(decoder->step(embed_step(step, position), state,
                                   target_embedding->position->in_step(rows, position, device())));
}

torch::Tensor TransformerImpl::output_rows(const torch::Tensor& x_ND) const {
  return config_.mup_base > 0 ? x_ND / config_.width_ratio() : x_ND;
}

torch::Tensor TransformerImpl::embed_step(const StepRows& rows, int64_t position) {
  const torch::Tensor tokens_R = int64_tensor(rows.tokens, device());
  return target_embedding(
      embeddings.of_target(), tokens_R, torch::full_like(tokens_R, position), position + 1,
      rows.second.empty() ? torch::Tensor() : int64_tensor(rows.second, device()));
}

}  // namespace attn
