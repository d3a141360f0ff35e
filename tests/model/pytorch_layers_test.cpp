// Layers against PyTorch's own with the same weights. Golden values are from
// tools/goldens/pytorch_layers.py.
#include "kernels/compute_scope.h"
#include "model/transformer/decoder.h"
#include "model/transformer/encoder.h"
#include "tests/model/golden.h"
#include "tests/support/models.h"

using namespace attn;
using testing::check_gradients;
using testing::fill;
using testing::Golden;
using testing::max_difference;

namespace {

const std::vector<int64_t> kSourceLengths = {5, 3, 7}, kTargetLengths = {4, 6, 2};

TransformerConfig config(Norm norm) {
  TransformerConfig config = testing::small_model();
  config.dropout = 0.0;
  config.norm = norm;
  return config;
}

}  // namespace

TEST_CASE("an encoder layer computes what PyTorch's computes, forward and backward") {
  const Norm norm = GENERATE(Norm::post, Norm::pre);
  const bool kernels = GENERATE(true, false);
  const ComputeScope scope({.kernels = kernels});
  CAPTURE(enum_name(norm), kernels);
  const Golden golden("pytorch_layers.safetensors",
                      "encoder." + std::string(enum_name(norm)) + ".");
  EncoderLayer layer(config(norm), 0);
  fill(*layer, golden);
  const Segments rows(kSourceLengths);
  const torch::Tensor source = golden("source").requires_grad_();
  const torch::Tensor out = layer->forward(source, {.queries = rows, .keys = rows});
  CHECK(max_difference(out, golden("output")) < 1e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(source.grad(), golden("source_gradient")) < 1e-5);
  check_gradients(*layer, golden);
}

TEST_CASE("a decoder layer computes what PyTorch's computes, forward and backward") {
  const Norm norm = GENERATE(Norm::post, Norm::pre);
  const bool kernels = GENERATE(true, false);
  const ComputeScope scope({.kernels = kernels});
  CAPTURE(enum_name(norm), kernels);
  const Golden golden("pytorch_layers.safetensors",
                      "decoder." + std::string(enum_name(norm)) + ".");
  DecoderLayer layer(config(norm), 0);
  fill(*layer, golden);
  const Segments memory(kSourceLengths), rows(kTargetLengths);
  const torch::Tensor source = golden("source").requires_grad_();
  const torch::Tensor target = golden("target").requires_grad_();
  const torch::Tensor out =
      layer->forward(target, source, {.queries = rows, .keys = rows, .causal = true},
                     {.queries = rows, .keys = memory});
  CHECK(max_difference(out, golden("output")) < 1e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(source.grad(), golden("source_gradient")) < 1e-5);
  CHECK(max_difference(target.grad(), golden("target_gradient")) < 1e-5);
  check_gradients(*layer, golden);
}
