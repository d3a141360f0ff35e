// Attention: the packed kernels against the formula.
#include "model/transformer/attention.h"

#include "kernels/compute_scope.h"
#include "kernels/ops/attention.h"
#include "tests/support/catch.h"
#include "tests/support/scopes.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::check_close;
using testing::contains;
using testing::leaf;
using testing::max_difference;

namespace {

TransformerConfig small(int64_t heads = 2, int64_t d_k = 8, int64_t d_v = 8) {
  TransformerConfig config;
  config.d_model = 12;
  config.heads = heads;
  config.d_k = d_k;
  config.d_v = d_v;
  return config;
}

MultiHeadAttention attention(const TransformerConfig& config) {
  torch::manual_seed(7);
  return MultiHeadAttention(config, AttentionKind::encoder);
}

}  // namespace

TEST_CASE("attention weights of every query sum to one over what it may see") {
  torch::manual_seed(1);
  const Segments source(std::vector<int64_t>{4, 1, 6}), target(std::vector<int64_t>{3, 2, 5});
  auto module = attention(small());
  const torch::Tensor x = torch::randn({10, 12}), memory = torch::randn({11, 12});
  torch::Tensor weights;
  module->observer = [&](const ObservedAttention& all) { weights = all.weights_BHLM; };
  module->forward(x, memory, {.queries = target, .keys = source});
  REQUIRE(weights.sizes() == torch::IntArrayRef({3, 2, 5, 6}));
  const torch::Tensor sums = weights.sum(-1);
  const torch::Tensor real = target.mask().unsqueeze(1).expand_as(sums);
  CHECK(max_difference(sums.masked_select(real), torch::ones({20})) < 1e-5);
  CHECK(weights.select(0, 1).narrow(-1, 1, 5).abs().max().item<float>() == 0.0f);
}

TEST_CASE("a query with nothing to attend to yields zeros and finite gradients, not NaN") {
  const torch::Tensor q = torch::randn({1, 1, 2, 4}, torch::requires_grad());
  const torch::Tensor k = torch::randn({1, 1, 3, 4}, torch::requires_grad());
  const torch::Tensor allowed =
      torch::tensor({1, 0, 1, 0, 0, 0}).to(torch::kBool).view({1, 1, 2, 3});
  const auto result = scaled_dot_product_attention(q, k, k, allowed);
  CHECK(result.output.select(2, 1).abs().max().item<float>() == 0.0f);
  CHECK(result.weights.select(2, 1).abs().max().item<float>() == 0.0f);
  result.output.sum().backward();
  CHECK(torch::isfinite(q.grad()).all().item<bool>());
  CHECK(torch::isfinite(k.grad()).all().item<bool>());

  SECTION("with the kernels too, where a sentence has no keys at all") {
    const std::vector<int64_t> queries = {0, 2, 5}, keys = {0, 0, 3};
    const torch::Tensor rows = torch::randn({5, 4}, torch::requires_grad());
    const torch::Tensor memory = torch::randn({3, 4}, torch::requires_grad());
    const torch::Tensor out = packed_attention(
        rows, memory, memory, {.heads = 1, .query_offsets = queries, .key_offsets = keys});
    CHECK(out.narrow(0, 0, 2).abs().max().item<float>() == 0.0f);
    out.sum().backward();
    CHECK(torch::isfinite(rows.grad()).all().item<bool>());
  }
}

TEST_CASE("attention to a cache has gradients where they are wanted, and else the same values") {
  auto module = attention(small());
  const torch::Tensor x = torch::randn({2, 12});
  const Segments each(std::vector<int64_t>{1, 1});
  StepAncestors ancestors;
  ancestors.advance(std::vector<int64_t>{0, 0});
  const std::vector<KeysValues> cache{module->project(x, {})};
  const auto attended = [&] {
    return module->attend(x, cache, ancestors, {.queries = each, .keys = each});
  };
  const torch::Tensor out = attended();
  out.sum().backward();
  CHECK(module->value->weight.grad().defined());
  const torch::NoGradGuard no_grad;
  CHECK(max_difference(attended(), out) < 1e-6);
}

TEST_CASE("attention over the padded layout takes the slots that it is given") {
  torch::manual_seed(9);
  const std::vector<int64_t> offsets = {0, 2, 5};
  const torch::Tensor x = torch::randn({5, 8});
  PackedAttention options{.heads = 2, .query_offsets = offsets, .key_offsets = offsets};
  const torch::Tensor expected = padded_attention(x, x, x, options);
  const auto slots = [](std::vector<int64_t> list) {
    return DeviceRows{.slots = int64_tensor(list, torch::kCPU)};
  };
  options.query_rows = options.key_rows = slots({0, 1, 3, 4, 5});
  CHECK(torch::equal(padded_attention(x, x, x, options), expected));
  // Moved within the layout, and back: without a mask, the order of the queries does not matter.
  options.query_rows = slots({1, 0, 3, 4, 5});
  CHECK(max_difference(padded_attention(x, x, x, options), expected) < 1e-6);
  options.kv_heads = 1;
  CHECK_THROWS_WITH(padded_attention(x, x, x, options), contains("as many key-value heads"));
}

TEST_CASE("the kernels equal the reference, plain, by a bias and by relative positions") {
  const std::string kind = GENERATE("cross-attention", "plain", "bias", "relative");
  struct Shape {
    int64_t heads, d_k, d_v, kv_heads;
    bool causal;
    int64_t window = 0;
    double dropout = 0.0;
  };
  const Shape c = GENERATE(
      Shape{2, 8, 8, 2, false}, Shape{8, 8, 8, 8, true}, Shape{3, 20, 18, 3, false},
      Shape{3, 20, 18, 3, true, 0, 0.3}, Shape{1, 4, 4, 1, true}, Shape{4, 16, 16, 2, true},
      Shape{4, 4, 4, 2, false, 0, 0.3}, Shape{2, 16, 16, 2, false, 4}, Shape{16, 2, 2, 16, true, 3},
      Shape{6, 4, 3, 6, true, 0, 0.2}, Shape{2, 64, 64, 1, false, 40}, Shape{20, 1, 2, 20, false},
      Shape{1, 16, 16, 1, true, 1}, Shape{3, 32, 16, 3, false});
  const bool cross = kind == "cross-attention", relative = kind == "relative";
  if (cross && (c.causal || c.window > 0)) return;
  CAPTURE(kind, c.heads, c.d_k, c.d_v, c.kv_heads, c.causal, c.window, c.dropout);
  TransformerConfig config = small(c.heads, c.d_k, c.d_v);
  config.kv_heads = c.kv_heads;
  if (relative) config.position = Position::relative;
  config.attention_dropout = c.dropout;
  const Segments rows(std::vector<int64_t>{9, 0, 1, 107, 4}),  // within the clip and beyond
      others(std::vector<int64_t>{5, 2, 1, 100, 17});
  const Segments& keys = cross ? others : rows;
  torch::manual_seed(13);
  const torch::Tensor x = torch::randn({121, 12}), upstream = torch::randn({121, 12}),
                      y = cross ? torch::randn({keys.rows(), 12}) : x,
                      bias = torch::randn({c.heads, 2 * 109 - 1});  // more than the longest needs
  std::vector<std::vector<torch::Tensor>> results;
  for (const bool kernels : {true, false}) {
    const ComputeScope scope({.kernels = kernels, .dropout_seed = 16});
    torch::manual_seed(14);
    MultiHeadAttention module(config, AttentionKind::encoder);
    if (relative) module->relative->reset_parameters();
    module->train(c.dropout > 0.0);
    const torch::Tensor in = leaf(x), memory = leaf(y), own = leaf(bias);
    AttentionSpec spec{.queries = rows, .keys = keys, .causal = c.causal, .window = c.window};
    if (kind == "bias") spec.position.bias_HP = own;
    const torch::Tensor out = module->forward(in, memory, spec);
    out.backward(upstream);
    results.push_back({out, in.grad(), memory.grad()});
    for (const auto& parameter : module->parameters()) results.back().push_back(parameter.grad());
    if (kind == "bias") results.back().push_back(own.grad());
  }
  check_close(results[0], results[1], 1e-5, 10.0);  // the masks are the same, too
  CHECK(max_difference(results[0][0], results[1][0]) < 1e-5);
  if (c.window != 1) CHECK(results[0].back().abs().max().item<double>() > 1e-2);
}

TEST_CASE("gradients by distance have the same bits for any number of threads") {
  const std::vector<int64_t> lengths = {9, 1, 13, 4, 2, 7, 5};
  const Segments rows(lengths);
  const int64_t width = GENERATE(4, 20);  // of a head: side by side in a vector, or one at a time
  torch::manual_seed(15);
  const torch::Tensor x = torch::randn({41, 2 * width}), upstream = torch::randn({41, 2 * width}),
                      a_K = torch::randn({7, 2 * width}), a_V = torch::randn({7, 2 * width}),
                      bias = torch::randn({2, 25});
  std::vector<std::vector<torch::Tensor>> gradients;
  for (const int threads : {1, 2, 3}) {
    const testing::Threads set(threads);
    std::vector<torch::Tensor> own;
    for (const auto& operand : {a_K, a_V, bias}) own.push_back(leaf(operand));
    packed_attention(x, x, x,
                     {.heads = 2,
                      .query_offsets = rows.offsets(),
                      .key_offsets = rows.offsets(),
                      .bias_HP = own[2],
                      .relative = {own[0], own[1]}})
        .backward(upstream);
    gradients.push_back({own[0].grad(), own[1].grad(), own[2].grad()});
  }
  for (size_t i = 0; i < gradients[0].size(); ++i) {
    CAPTURE(i);
    CHECK(gradients[0][i].abs().max().item<double>() > 1e-2);
    CHECK(torch::equal(gradients[0][i], gradients[1][i]));
    CHECK(torch::equal(gradients[0][i], gradients[2][i]));
  }
}
