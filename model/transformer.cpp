#include "model/transformer.h"

#include "base/check.h"
#include "kernels/bf16.h"
#include "model/init.h"

namespace attn {

TransformerImpl::TransformerImpl(const ModelConfig& config, const ModelVocabulary& vocabulary)
    : config_(config), vocabulary_(vocabulary) {
  config.validate();
  const bool shared = config.embedding_sharing == EmbeddingSharing::all;
  require(!shared || vocabulary.source == vocabulary.target, "model.embedding_sharing", "all",
          "needs one vocabulary for both sides (data.shared_vocabulary)");
  const auto matrix = [&](const char* name, int64_t rows) {
    return register_parameter(name, torch::empty({rows, config.d_model}));
  };
  switch (config.embedding_sharing) {
    case EmbeddingSharing::all:
      shared_weight = matrix("shared_weight", vocabulary.target);
      break;
    case EmbeddingSharing::none:
      projection_weight = matrix("projection_weight", vocabulary.target);
      [[fallthrough]];
    case EmbeddingSharing::decoder:
      source_weight = matrix("source_weight", vocabulary.source);
      target_weight = matrix("target_weight", vocabulary.target);
      break;
  }
  if (config.word_positions) {
    is_word_.assign(static_cast<size_t>(vocabulary.target), 0);
    for (const int32_t token : vocabulary.words) is_word_.at(static_cast<size_t>(token)) = 1;
    is_word_V_ =
        register_buffer("is_word", int64_tensor(std::span<const uint8_t>(is_word_), torch::kCPU));
  }
  source_embedding = register_module("source_embedding", Embedding(config, false));
  target_embedding = register_module("target_embedding", Embedding(config, config.word_positions));
  encoder = register_module("encoder", Encoder(config));
  decoder = register_module("decoder", Decoder(config));
  initialise(*this);
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

torch::Tensor TransformerImpl::encode(const TokenSequences& source) {
  const Segments& rows = source.segments;
  const torch::Tensor x_ND =
      source_embedding(source_matrix(), source.tokens_N, rows.positions(), rows.longest());
  return encoder(x_ND, AttentionScope{.queries = rows,
                                      .keys = rows,
                                      .bias_HLM = source_embedding->position->attention_bias(
                                          rows.longest(), rows.longest())});
}

torch::Tensor TransformerImpl::decode(const TokenSequences& target, const torch::Tensor& memory_ND,
                                      const Segments& memory) {
  const Segments& rows = target.segments;
  torch::Tensor word_counts_N;
  if (config_.word_positions) {
    word_counts_N = rows.running_count(is_word_V_.index_select(0, target.tokens_N));
  }
  const torch::Tensor x_ND = target_embedding(target_matrix(), target.tokens_N, rows.positions(),
                                              rows.longest(), word_counts_N);
  const AttentionScope self{
      .queries = rows,
      .keys = rows,
      .causal = true,
      .bias_HLM = target_embedding->position->attention_bias(rows.longest(), rows.longest())};
  return decoder(x_ND, memory_ND, self, AttentionScope{.queries = rows, .keys = memory});
}

torch::Tensor TransformerImpl::forward(const TokenSequences& source, const TokenSequences& target) {
  return decode(target, encode(source), source.segments);
}

torch::Tensor TransformerImpl::project(const torch::Tensor& x_ND) {
  return affine(x_ND, {output_weight(), {}});
}

DecoderState TransformerImpl::start(const torch::Tensor& memory_ND, const Segments& memory) {
  return decoder->start(memory_ND, memory);
}

torch::Tensor TransformerImpl::step(DecoderState& state, std::span<const int64_t> parents,
                                    std::span<const int32_t> tokens,
                                    std::span<const int64_t> sentences) {
  const auto rows = static_cast<int64_t>(tokens.size());
  const int64_t position = state.position();
  for (auto& earlier : state.ancestors) {
    std::vector<int32_t> moved(tokens.size());
    for (int64_t r = 0; r < rows; ++r) moved[r] = earlier[parents[r]];
    earlier.swap(moved);
  }
  // The newest earlier step's rows were the identity when it was made, so the loop has already
  // placed them.
  std::vector<int32_t> self(tokens.size());
  for (int64_t r = 0; r < rows; ++r) self[r] = static_cast<int32_t>(r);
  state.ancestors.push_back(std::move(self));
  state.rows_of_sentence.assign(state.memory.count(), 0);
  for (const int64_t sentence : sentences) ++state.rows_of_sentence[sentence];
  state.word_counts = count_words(state.word_counts, parents, tokens);

  // The newest position's row of the bias that whole sentences get.
  torch::Tensor bias = target_embedding->position->attention_bias(position + 1, position + 1);
  if (bias.defined()) bias = bias.narrow(1, position, 1);
  return decoder->step(embed_step(tokens, position, state.word_counts), state, bias);
}

torch::Tensor TransformerImpl::embed_step(std::span<const int32_t> tokens, int64_t position,
                                          std::span<const int64_t> word_counts) {
  const torch::Tensor tokens_R = int64_tensor(tokens, device());
  return target_embedding(
      target_matrix(), tokens_R, torch::full_like(tokens_R, position), position + 1,
      word_counts.empty() ? torch::Tensor() : int64_tensor(word_counts, device()));
}

std::vector<int64_t> TransformerImpl::count_words(std::span<const int64_t> before,
                                                  std::span<const int64_t> parents,
                                                  std::span<const int32_t> tokens) const {
  if (!config_.word_positions) return {};
  std::vector<int64_t> counts(tokens.size());
  for (size_t r = 0; r < tokens.size(); ++r) {
    const int64_t earlier = before.empty() ? 0 : before[static_cast<size_t>(parents[r])];
    counts[r] = earlier + is_word_[static_cast<size_t>(tokens[r])];
  }
  return counts;
}

}  // namespace attn
