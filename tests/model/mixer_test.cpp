// Token mixers: what each position sees, and the convolution against LibTorch's.
#include "model/transformer/mixer.h"
#include "base/json_config.h"
#include "kernels/compute_scope.h"
#include "model/layers/layer.h"
#include "model/layers/recurrence.h"
#include "model/transformer/encoder.h"
#include "model/transformer/transformer.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

namespace {

TransformerConfig config_of(const std::string& text) {
  TransformerConfig config = testing::small_model();
  config.layers = 1;
  read_config(config, parse_json(text, "test"));
  return config;
}

// sees[i][j]: whether the output at position i depends on the input at position j.
torch::Tensor sees(const std::function<torch::Tensor(const torch::Tensor&)>& map, int64_t length) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  const torch::Tensor x = torch::randn({length, 16}), out = map(x);
  std::vector<torch::Tensor> columns;
  for (int64_t j = 0; j < length; ++j) {
    const torch::Tensor changed = x.clone();
    changed[j] += 100 * torch::randn({16});  // not lost to rounding over many layers
    columns.push_back((map(changed) - out).abs().amax(1) > 0);
  }
  return torch::stack(columns, 1);
}

torch::Tensor encoder_sees(const TransformerConfig& config, int64_t length) {
  torch::manual_seed(3);
  Encoder encoder(config);
  reset_layers(*encoder);
  encoder->eval();  // no dropout
  const Segments rows(std::vector<int64_t>{length});
  return sees(
      [&](const torch::Tensor& x) { return encoder->forward(x, {.queries = rows, .keys = rows}); },
      length);
}

torch::Tensor decoder_sees(const TransformerConfig& config, int64_t length) {
  torch::manual_seed(3);
  Decoder decoder(config);
  reset_layers(*decoder);
  decoder->eval();
  const Segments rows(std::vector<int64_t>{length});
  const torch::Tensor memory = torch::randn({length, 16});
  const AttentionSpec self{.queries = rows, .keys = rows, .causal = true};
  return sees(
      [&](const torch::Tensor& x) {
        return decoder->forward(x, memory, self, {.queries = rows, .keys = rows});
      },
      length);
}

torch::Tensor band(int64_t length, int64_t before, int64_t after) {
  return torch::ones({length, length}, torch::kBool).triu(-before).tril(after);
}

}  // namespace

TEST_CASE("the gates' matrices are hidden matrices") {
  for (const bool bidirectional : {false, true}) {
    const RecurrentLayer layer(RecurrentCell::lstm, 6, 4, bidirectional);
    const auto matrices = layer->hidden_matrices();
    REQUIRE(matrices.size() == (bidirectional ? 4 : 2));
    CHECK(matrices[0].is_same(layer->named_parameters()["input_weight"]));
    CHECK(matrices[1].is_same(layer->named_parameters()["state_weight"]));
  }
}

TEST_CASE("a mixer of the encoder sees its neighbourhood, one of the decoder no later position") {
  const int64_t n = 9;
  const auto check = [&](const char* mixer, int64_t before, int64_t after, int64_t causal) {
    CAPTURE(mixer);
    const std::string text =
        std::string(R"({"encoder_mixer": )") + mixer + R"(, "decoder_mixer": )" + mixer + "}";
    const TransformerConfig config = config_of(text);
    config.validate();
    CHECK(torch::equal(encoder_sees(config, n), band(n, before, after)));
    CHECK(torch::equal(decoder_sees(config, n), band(n, causal, 0)));
  };
  check(R"({"kind": "attention"})", n, n, n);
  check(R"({"kind": "restricted_attention", "window": 1})", 0, 0, 0);
  check(R"({"kind": "restricted_attention", "window": 4})", 2, 2, 3);
  check(R"({"kind": "restricted_attention", "window": 5})", 2, 2, 4);
  check(R"({"kind": "convolution"})", 1, 1, 2);
  check(R"({"kind": "convolution", "kernel": 5, "gated": true})", 2, 2, 4);
  check(R"({"kind": "recurrence"})", n, n, n);
  check(R"({"kind": "none"})", 0, 0, 0);
  CHECK(torch::equal(
      encoder_sees(
          config_of(R"({"encoder_mixer": {"kind": "recurrence", "bidirectional": false}})"), n),
      band(n, n, 0)));
}

TEST_CASE("the convolution is LibTorch's conv1d over each sentence, gradients too") {
  struct Case {
    int64_t kernel, distance;
    bool gated, causal;
  };
  const auto [kernel, distance, gated, causal] =
      GENERATE(Case{3, 1, false, false}, Case{5, 2, true, false}, Case{1, 1, false, true},
               Case{4, 1, false, true}, Case{2, 4, true, true});
  const bool kernels = GENERATE(true, false);
  const ComputeScope scope({.kernels = kernels});
  CAPTURE(kernel, distance, gated, causal, kernels);
  torch::manual_seed(2);
  Convolution convolution(
      6, ConvolutionShape{.kernel = kernel, .dilation = distance, .causal = causal}, gated);
  {
    const torch::NoGradGuard no_grad;
    convolution->taps->bias.normal_();
  }
  const std::vector<int64_t> lengths = {4, 1, 11};
  const Segments rows(lengths);
  const torch::Tensor x = torch::randn({16, 6}).requires_grad_(), upstream = torch::randn({16, 6});
  const torch::Tensor out = convolution(x, rows);
  out.backward(upstream);

  const torch::Tensor reference_x = x.detach().clone().requires_grad_();
  const torch::Tensor weight = convolution->taps->weight.detach().clone().requires_grad_();
  const torch::Tensor kernel_OIk = weight.view({-1, kernel, 6}).transpose(1, 2);
  const int64_t reach = (kernel - 1) * distance;
  const int64_t left = causal ? reach : reach / 2;
  std::vector<torch::Tensor> sentences;
  for (const torch::Tensor& sentence : reference_x.split_with_sizes(lengths)) {
    const torch::Tensor padded =
        torch::constant_pad_nd(sentence.t().unsqueeze(0), {left, reach - left});
    sentences.push_back(torch::conv1d(padded, kernel_OIk, convolution->taps->bias.detach(),
                                      /*stride=*/torch::IntArrayRef(1),
                                      /*padding=*/torch::IntArrayRef(0),
                                      /*dilation=*/torch::IntArrayRef(distance))[0]
                            .t());
  }
  torch::Tensor expected = torch::cat(sentences);
  if (gated) expected = torch::glu(expected, 1);
  expected.backward(upstream);
  CHECK(max_difference(out, expected) < 1e-5);
  CHECK(max_difference(x.grad(), reference_x.grad()) < 1e-5);
  CHECK(max_difference(convolution->taps->weight.grad(), weight.grad()) < 1e-5);
}
