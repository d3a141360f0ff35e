#include "kernels/ops/repeated_heads.h"

#include "tests/support/catch.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

TEST_CASE("each head is repeated, and its gradient is the sum of its copies'") {
  torch::manual_seed(1);
  const int64_t heads = GENERATE(1, 3), group = GENERATE(1, 2, 4), width = GENERATE(1, 8, 20);
  const int64_t count = GENERATE(0, 1, 500);
  CAPTURE(heads, group, width, count);
  const torch::Tensor rows = torch::randn({count, heads * width}, torch::requires_grad());
  const torch::Tensor repeated = repeated_heads(rows, heads, group);
  const torch::Tensor expected =
      rows.detach().view({count, heads, width}).repeat_interleave(group, 1).flatten(1);
  CHECK(torch::equal(repeated, expected));
  const torch::Tensor upstream = torch::randn_like(repeated);
  repeated.backward(upstream);
  const torch::Tensor sums = upstream.view({count, heads, group, width}).sum(2).flatten(1);
  CHECK(max_difference(rows.grad(), sums) < 1e-5);
  // Other types and columns of a wider matrix.
  CHECK(torch::equal(repeated_heads(rows.to(torch::kFloat64), heads, group),
                     expected.to(torch::kFloat64)));
  const torch::Tensor wide = torch::cat({rows.detach(), rows.detach()}, 1);
  CHECK(torch::equal(repeated_heads(wide.narrow(1, 0, heads * width), heads, group), expected));
  CHECK_THROWS(repeated_heads(torch::ones({2, 5}), 2, 2));
}
