#include "app/bench/table1.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace attn;
using testing::contains;

namespace {

// Self-attention that grows with n, a recurrence that does not: equal at n = 100.
std::vector<Table1Point> points(const Table1Options& options) {
  std::vector<Table1Point> out;
  for (const int64_t width : options.widths) {
    for (const int64_t length : options.lengths) {
      for (size_t type = 0; type < layer_types(options).size(); ++type) {
        const double time = type == 0 ? static_cast<double>(length) : 100.0;
        out.push_back({type, length, width, time / 4, time * 3 / 4});
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a crossing is interpolated between measured lengths") {
  const Table1Options options{.lengths = {16, 64, 256}, .widths = {64}};
  const auto measured = points(options);
  const size_t recurrence = layer_types(options).size() - 1;
  CHECK(crossing(measured, 0, recurrence, 64) == Approx(100.0));
  const Table1Options shorter{.lengths = {16, 64}, .widths = {64}};
  CHECK(std::isinf(crossing(points(shorter), 0, recurrence, 64)));
  const Table1Options longer{.lengths = {128, 256}, .widths = {64}};
  CHECK(crossing(points(longer), 0, recurrence, 64) == 0.0);
}

TEST_CASE("Table 1 lists formulas, values and times of every layer type") {
  const Table1Options options{.lengths = {16, 256}, .widths = {64}, .windows = {8}, .kernels = {5}};
  TransformerConfig config;
  config.d_model = 64, config.heads = 4, config.d_k = config.d_v = 16;
  const std::string formulas = table1_formulas(options, config, 10);
  // 10 · 4 · 64² + 10² · 2 · 64 multiply-adds; 4 linear layers.
  CHECK_THAT(formulas,
             contains("| self-attention | O(n² d) | O(1) | O(1) | 0.177 | 1 | 1 | 16640 |"));
  CHECK_THAT(formulas, contains("| restricted self-attention, r = 8 | O(r n d) | O(1) | O(n / r) | "
                                "0.173 | 1 | 3 | 16640 |"));
  CHECK_THAT(formulas, contains("| convolution, k = 5 | O(k n d²) | O(1) | O(n / k) | 0.205 | 1 | "
                                "5 | 20544 |"));
  CHECK_THAT(formulas, contains("| recurrence, lstm | O(n d²) | O(n) | O(n) | 0.328 | 10 | 10 | "
                                "33280 |"));
  const std::string times = table1_times(options, points(options));
  CHECK_THAT(times, contains("| self-attention | 4000 / 12000 | 64000 / 192000 |"));
  CHECK_THAT(times, contains("- d = 64, recurrence, gru: for n < 100"));
}
