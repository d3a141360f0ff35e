// kernels/cuda/embedding.cu, emulated, against its formula in double precision.
#include <numeric>

#include "tests/kernels/cuda/emulated.h"

using namespace attn;
using testing::DeviceBuffer;

namespace {

constexpr int64_t kTokens = 19;

enum class Tokens { some, same, from_end_of_chunk, from_chunk };

// Tokens of which some fill several chunks of sorted rows, and one is missing.
std::vector<int64_t> some_tokens(int64_t rows) {
  Random random(static_cast<uint64_t>(rows));
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < rows; ++i) {
    const auto token = static_cast<int64_t>(random.below(kTokens - 1));
    tokens.push_back(i % 3 == 0 ? 7 : token);
  }
  return tokens;
}

}  // namespace

TEST_CASE("the GPU's embedding is that of its formula, with the CPU's dropout") {
  const int64_t rows = GENERATE(1, 6, 33), width = GENERATE(4, 60, 516);
  const double rate = GENERATE(0.0, 0.25);
  const bool bf16 = GENERATE(false, true);
  CAPTURE(rows, width, rate, bf16);
  Random random(5);
  const auto weight = testing::random_floats(random, kTokens * width),
             table = testing::random_floats(random, 40 * width);
  const std::vector<int64_t> tokens = some_tokens(rows);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < rows; ++i) places.push_back((7 * i + 3) % 40);
  const uint64_t seed = 21;
  const testing::DropoutKeys keys = testing::dropout_keys(rate, seed);
  const std::vector<float> factors = testing::cpu_factors(rows * width, keys.cpu);
  const float scale = 2.5f;
  std::vector<double> expected;
  for (int64_t i = 0; i < rows * width; ++i) {
    const int64_t row = i / width, c = i % width;
    const double position = table[static_cast<size_t>(places[row] * width + c)];
    expected.push_back(
        (double{scale} * weight[static_cast<size_t>(tokens[row] * width + c)] + position) *
        factors[static_cast<size_t>(i)]);
  }
  DeviceBuffer from(weight, false), added(table, false), out(expected.size(), bf16);
  const testing::EmulatedLauncher launcher;
  cuda::embedding_forward({&launcher, nullptr}, {.weight = from.floats(),
                                                 .tokens = tokens.data(),
                                                 .table = added.floats(),
                                                 .positions = places.data(),
                                                 .output = out.numbers(),
                                                 .rows = rows,
                                                 .width = static_cast<int32_t>(width),
                                                 .scale = scale,
                                                 .dropout = keys.gpu});
  CHECK(error_of(out, expected) < (bf16 ? 0.00392 : 5e-7));
  CHECK(out.margins_are_whole());
}

TEST_CASE("the gradient of the GPU's embedding is added row by row, and repeats") {
  const int64_t rows = GENERATE(1, 32, 33, 64, 97, 200), width = GENERATE(4, 516);
  const Tokens kind =
      GENERATE(Tokens::some, Tokens::same, Tokens::from_end_of_chunk, Tokens::from_chunk);
  const bool bf16 = GENERATE(false, true);
  CAPTURE(rows, width, kind, bf16);
  Random random(6);
  const auto before = testing::random_floats(random, kTokens * width),
             d = testing::rounded(testing::random_floats(random, rows * width), bf16);
  std::vector<int64_t> tokens = some_tokens(rows), order(static_cast<size_t>(rows));
  if (kind == Tokens::same) std::ranges::fill(tokens, 3);
  const int64_t of_one = cuda::kEmbeddingChunk - (kind == Tokens::from_end_of_chunk ? 1 : 0);
  for (int64_t i = 0; kind >= Tokens::from_end_of_chunk && i < rows; ++i) {
    tokens[static_cast<size_t>(i)] = i < of_one ? 1 : 5;
  }
  const uint64_t seed = 23;
  const testing::DropoutKeys keys = testing::dropout_keys(0.25, seed);
  const std::vector<float> factors = testing::cpu_factors(rows * width, keys.cpu);
  std::vector<double> expected(before.begin(), before.end());
  for (int64_t i = 0; i < rows * width; ++i) {
    expected[static_cast<size_t>(tokens[i / width] * width + i % width)] +=
        0.5 * double{d[static_cast<size_t>(i)]} * factors[static_cast<size_t>(i)];
  }
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int64_t row) { return tokens[row]; });
  // What is read beyond the ends looks like the tokens there.
  constexpr int64_t kBeyond = 2;
  std::vector<int64_t> sorted(kBeyond, tokens[order.front()]);
  for (const int64_t row : order) sorted.push_back(tokens[row]);
  sorted.insert(sorted.end(), kBeyond, tokens[order.back()]);
  std::vector<float> first;
  for (int repeat = 0; repeat < 2; ++repeat) {
    DeviceBuffer d_output(d, bf16), d_weight(before, false),
        partial(static_cast<size_t>(cuda::embedding_partial_rows(rows) * width), false);
    const testing::EmulatedLauncher launcher;
    cuda::embedding_backward({&launcher, nullptr}, {.d_output = d_output.numbers(),
                                                    .tokens = sorted.data() + kBeyond,
                                                    .rows_of = order.data(),
                                                    .d_weight = d_weight.floats(),
                                                    .partial = partial.floats(),
                                                    .rows = rows,
                                                    .width = static_cast<int32_t>(width),
                                                    .scale = 0.5f,
                                                    .dropout = keys.gpu});
    CHECK(error_of(d_weight, expected) < 2e-6);
    CHECK((d_weight.margins_are_whole() && partial.margins_are_whole()));
    if (repeat == 0) first = d_weight.values();
    CHECK(first == d_weight.values());
  }
}
