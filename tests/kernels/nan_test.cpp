#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::each_table;
using testing::random_floats;

TEST_CASE("NaN in a key reaches the outputs and all gradients") {
  const cpu::Kernels& kernels = each_table();
  CAPTURE(kernels.name);
  constexpr int64_t kKeys = 5, kWidth = 4;
  Random random(3);
  const auto q = random_floats(random, kKeys * kWidth), v = random_floats(random, kKeys * kWidth),
             d_out = random_floats(random, kKeys * kWidth);
  auto k = random_floats(random, kKeys * kWidth);
  k[2 * kWidth] = std::numeric_limits<float>::quiet_NaN();
  cpu::AttentionHead head{};
  head.query = q.data(), head.key = k.data(), head.value = v.data();
  head.query_stride = head.key_stride = head.value_stride = head.d_k = head.d_v = kWidth;
  head.queries = head.keys = kKeys;
  std::vector<float> out(q.size()), log_sum(kKeys), dq(q.size()), dk(q.size()), dv(q.size()),
      scratch(static_cast<size_t>(kernels.attention_scratch(kKeys, kWidth, kWidth)));
  kernels.attention_forward(head, out.data(), kWidth, log_sum.data(), scratch.data());
  kernels.attention_backward(
      head, {d_out.data(), kWidth, log_sum.data(), dq.data(), dk.data(), dv.data()},
      scratch.data());
  for (const auto* values : {&out, &dq, &dk, &dv}) {
    for (const float value : *values) CHECK(std::isnan(value));
  }
}
