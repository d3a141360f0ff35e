// Layers against PyTorch's own with the same weights. Golden values are from
// tools/goldens/pytorch_layers.py.
// Rotary positions. Golden values are from tools/goldens/rms_rotary.py, which uses complex numbers.

#include "kernels/compute_scope.h"
#include "model/transformer/attention.h"
#include "model/transformer/decoder.h"
#include "model/transformer/encoder.h"
#include "model/transformer/transformer.h"
#include "tests/model/seq2seq_properties.h"
#include "tests/support/golden.h"
#include "tests/support/models.h"

using namespace attn;
using testing::check_gradients;
using testing::fill;
using testing::Golden;
using testing::max_difference;
using testing::sequences;

namespace {

const std::vector<int64_t> kSourceLengths = {5, 3, 7}, kTargetLengths = {4, 6, 2};

TransformerConfig config(Norm norm) {
  TransformerConfig config = testing::small_model();
  config.dropout = 0.0;
  config.norm = norm;
  return config;
}

}  // namespace

TEST_CASE("a layer of either stack computes what PyTorch's computes, forward and backward") {
  const std::string stack = GENERATE("encoder", "decoder");
  const Norm norm = GENERATE(Norm::post, Norm::pre);
  const bool kernels = GENERATE(true, false);
  const ComputeScope scope({.kernels = kernels});
  CAPTURE(stack, enum_name(norm), kernels);
  const Golden golden("model/data/pytorch_layers.safetensors",
                      stack + "." + std::string(enum_name(norm)) + ".");
  EncoderLayer encoder(config(norm), 0);
  DecoderLayer decoder(config(norm), 0);
  const bool decodes = stack == "decoder";
  torch::nn::Module& layer = decodes ? static_cast<torch::nn::Module&>(*decoder) : *encoder;
  fill(layer, golden);
  const Segments memory(kSourceLengths), rows(kTargetLengths);
  const torch::Tensor source = golden("source").requires_grad_(),
                      target = golden(decodes ? "target" : "source").requires_grad_();
  const torch::Tensor out =
      decodes ? decoder->forward(target, source, {.queries = rows, .keys = rows, .causal = true},
                                 {.queries = rows, .keys = memory})
              : encoder->forward(source, {.queries = memory, .keys = memory});
  CHECK(max_difference(out, golden("output")) < 1e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(source.grad(), golden("source_gradient")) < 1e-5);
  if (decodes) CHECK(max_difference(target.grad(), golden("target_gradient")) < 1e-5);
  check_gradients(layer, golden);
}

namespace {

constexpr const char* kFile = "model/data/rms_rotary.safetensors";

TransformerConfig rotary() {
  TransformerConfig config = testing::small_model();
  config.d_model = 12;
  config.d_k = 6;
  config.d_v = 4;
  config.position = Position::rotary;
  return config;
}

const Segments& rows() {
  static const Segments segments(std::vector<int64_t>{5, 3, 7});
  return segments;
}

}  // namespace

TEST_CASE("self-attention with rotary positions turns queries and keys as by complex numbers") {
  const bool causal = GENERATE(false, true);
  const bool kernels = GENERATE(true, false);
  const ComputeScope scope({.kernels = kernels});
  CAPTURE(causal, kernels);
  const Golden golden(kFile, causal ? "causal." : "whole.");
  MultiHeadAttention attention(rotary(), AttentionKind::encoder);
  fill(*attention, golden);
  PositionEncoding position(rotary(), false);
  const torch::Tensor x = golden("x").requires_grad_();
  const AttentionSpec spec{.queries = rows(),
                           .keys = rows(),
                           .causal = causal,
                           .position = position->in_scores(rows().positions(), rows().longest())};
  const torch::Tensor out = attention(x, x, spec);
  CHECK(max_difference(out, golden("output")) < 2e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(x.grad(), golden("x_gradient")) < 1e-4);
  check_gradients(*attention, golden, 3e-5);
}

TEST_CASE(
    "rotary positions are in self-attention alone: not in embeddings, not in cross-attention") {
  torch::manual_seed(5);
  Transformer model(rotary(), VocabularySizes{23, 23});
  model->eval();
  const torch::NoGradGuard no_grad;
  const std::vector<int64_t> one = {0};
  const std::vector<int32_t> token = {7};
  const auto input = [&](int64_t position) {
    WordState words;
    return model->embed_step({one, token, one}, position, Segments(one), words);
  };
  CHECK(torch::equal(input(0), input(9)));
  // The decoder sees the memory as a set.
  const Memory memory = model->encode(sequences({{4, 5, 6, 7}}));
  const Memory turned{memory.rows_MD.flip(0), memory.segments};
  const TokenSequences target = sequences({{1, 9, 10}});
  CHECK(max_difference(model->decode(target, memory), model->decode(target, turned)) < 1e-5);
  // The encoder does not see the sentence as one.
  const torch::Tensor forth = memory.rows_MD,
                      back = model->encode(sequences({{7, 6, 5, 4}})).rows_MD.flip(0);
  CHECK(max_difference(forth, back) > 1e-3);
}
