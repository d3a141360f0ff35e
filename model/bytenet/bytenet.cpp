// Fast path bytenet_step: bytenet 68e954dc
// Fast path bytenet_step: bytenet_block 1c87d582
// Fast path bytenet_step: shifted_rows da3773ae
#include "model/bytenet/bytenet.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/step_inference.h"

namespace attn {
namespace {

/// The rows of `memory` at positions[r] of sentences[r]; zeros beyond a sentence's end.
torch::Tensor rows_at(const Memory& memory, std::span<const int64_t> sentences,
                      std::span<const int64_t> positions) {
  const Segments& segments = memory.segments;
  const torch::Tensor& rows_MD = memory.rows_MD;
  const auto count = static_cast<int64_t>(sentences.size());
  if (segments.rows() == 0) return torch::zeros({count, rows_MD.size(1)}, rows_MD.options());
  // Beyond the end, the sentence's first row is read and replaced: a common row of zeros would be
  // copied with all others, and on a GPU its gradients would be added one after the other.
  std::vector<int64_t> index;
  std::vector<uint8_t> outside;
  for (size_t r = 0; r < sentences.size(); ++r) {
    const bool inside = positions[r] < segments.length(sentences[r]);
    const int64_t row = segments.offset(sentences[r]) + (inside ? positions[r] : 0);
    index.push_back(std::min(row, segments.rows() - 1));  // a last sentence without rows
    outside.push_back(!inside);
  }
  const torch::Device device = rows_MD.device();
  const torch::Tensor outside_R = to_device<bool>(outside, device);
  return rows_MD.index_select(0, int64_tensor(index, device))
      .masked_fill(outside_R.unsqueeze(1), 0.0);
}

}  // namespace

ByteNetBlockImpl::ByteNetBlockImpl(const ByteNetConfig& config, int64_t dilation, bool causal)
    : shape_{.kernel = config.kernel, .dilation = dilation, .causal = causal} {
  const auto norm = [&](const char* name, int64_t width) {
    return register_module(name, NormLayer(NormKind::layer, width));
  };
  const int64_t hidden = config.hidden;
  narrow_norm = norm("narrow_norm", config.d_model);
  narrow = register_module("narrow", Linear(config.d_model, hidden));
  convolution_norm = norm("convolution_norm", hidden);
  convolution = register_module("convolution", Linear(config.kernel * hidden, hidden));
  widen_norm = norm("widen_norm", hidden);
  widen = register_module("widen", Linear(hidden, config.d_model));
  dropout = register_module("dropout", Dropout(config.dropout));
}

torch::Tensor ByteNetBlockImpl::narrowed(const torch::Tensor& x) {
  return convolution_norm(narrow(narrow_norm(x).relu())).relu();
}

torch::Tensor ByteNetBlockImpl::widened(const torch::Tensor& x, const torch::Tensor& window) {
  return x + dropout(widen(widen_norm(convolution(window)).relu()));
}

torch::Tensor ByteNetBlockImpl::forward(const torch::Tensor& x_ND, const Segments& rows) {
  // Formula bytenet_block: fast path bytenet_step.
  return widened(x_ND, shifted_rows(narrowed(x_ND), rows, shape_));
  // End of formula.
}

torch::Tensor ByteNetBlockImpl::step(const torch::Tensor& x_RD, StepInputs& inputs,
                                     const StepAncestors& ancestors) {
  return widened(x_RD, inputs.window(narrowed(x_RD), ancestors, shape_));
}

ByteNetImpl::ByteNetImpl(const ByteNetConfig& config, const VocabularySizes& sizes)
    : Seq2SeqModel(config, sizes), config_(config) {
  embedding_dropout_ = register_module("embedding_dropout", Dropout(config.dropout));
  add_blocks("encoder_", /*causal=*/false, encoder_blocks);
  encoder_norm = register_module("encoder_norm", NormLayer(NormKind::layer, config.d_model));
  join = register_module("join", Linear(config.kernel * 2 * config.d_model, config.d_model));
  add_blocks("decoder_", /*causal=*/true, decoder_blocks);
  decoder_norm = register_module("decoder_norm", NormLayer(NormKind::layer, config.d_model));
  embeddings.reset_parameters();
  reset_layers(*this);
}

void ByteNetImpl::add_blocks(const char* name, bool causal, std::vector<ByteNetBlock>& blocks) {
  for (int64_t repeat = 0; repeat < config_.repeats; ++repeat) {
    for (const int64_t dilation : config_.dilations) {
      blocks.push_back(register_module(name + std::to_string(blocks.size()),
                                       ByteNetBlock(config_, dilation, causal)));
    }
  }
}

double ByteNetImpl::embedding_scale() const {
  return std::sqrt(static_cast<double>(config_.d_model));
}

torch::Tensor ByteNetImpl::embed(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                                 const torch::Tensor& features_ND) {
  const torch::Tensor tokens_ND = scaled_embedding(weight_VD, tokens_N, embedding_scale());
  return embedding_dropout_(features_ND.defined() ? tokens_ND + features_ND : tokens_ND);
}

Memory ByteNetImpl::encode(const TokenSequences& source) {
  const Segments& rows = source.segments;
  std::vector<int64_t> lengths, slots;
  int64_t offset = 0;
  for (int64_t b = 0; b < rows.count(); ++b) {
    for (int64_t i = 0; i < rows.length(b); ++i) slots.push_back(offset + i);
    lengths.push_back(config_.unfolded_length(rows.length(b)));
    offset += lengths.back();
  }
  const Segments unfolded(lengths, device());
  const torch::Tensor embedded = embed(embeddings.of_source(), source.tokens_N,
                                       embeddings.features_of(source, embedding_scale()));
  torch::Tensor x = torch::zeros({unfolded.rows(), config_.d_model}, embedded.options())
                        .index_copy(0, int64_tensor(slots, device()), embedded);
  for (auto& block : encoder_blocks) x = block(x, unfolded);
  return {encoder_norm(x), unfolded};
}

torch::Tensor ByteNetImpl::decode(const TokenSequences& target_in, const Memory& memory) {
  // Formula bytenet: fast path bytenet_step.
  const Segments& rows = target_in.segments;
  std::vector<int64_t> sentences, positions;
  for (int64_t b = 0; b < rows.count(); ++b) {
    for (int64_t i = 0; i < rows.length(b); ++i) {
      sentences.push_back(b);
      positions.push_back(i);
    }
  }
  const torch::Tensor joined_N2D = torch::cat(
      {rows_at(memory, sentences, positions), embed(embeddings.of_target(), target_in.tokens_N)},
      1);
  torch::Tensor x =
      join(shifted_rows(joined_N2D, rows, {.kernel = config_.kernel, .causal = true}));
  for (auto& block : decoder_blocks) x = block(x, rows);
  return decoder_norm(x);
  // End of formula.
}

ByteNetImpl::State ByteNetImpl::start(const Memory& memory) {
  return {.memory = memory,
          .ancestors = {},
          .join_inputs = {},
          .block_inputs = std::vector<StepInputs>(decoder_blocks.size())};
}

torch::Tensor ByteNetImpl::step(State& state, const StepRows& rows) {
  state.ancestors.advance(rows.parents);
  const std::vector<int64_t> positions(rows.sentences.size(), state.ancestors.steps() - 1);
  const torch::Tensor joined_R2D =
      torch::cat({rows_at(state.memory, rows.sentences, positions),
                  embed(embeddings.of_target(), int64_tensor(rows.tokens, device()))},
                 1);
  torch::Tensor x = join(state.join_inputs.window(joined_R2D, state.ancestors,
                                                  {.kernel = config_.kernel, .causal = true}));
  for (size_t i = 0; i < decoder_blocks.size(); ++i) {
    x = decoder_blocks[i]->step(x, state.block_inputs[i], state.ancestors);
  }
  return decoder_norm(x);
}

std::shared_ptr<const InferenceModel> ByteNetImpl::make_inference(WeightType) {
  return step_inference(*this, FastPath::bytenet_step);
}

}  // namespace attn
