// Products of bf16 tiles against loops in double precision, on buffers of exactly the required
// size. All implementations that the machine supports, including plain C++, run the same cases.
// Attention with products in bf16 tiles against the float32 kernel. All implementations of tiles
// that the machine supports, including plain C++, run the same cases.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/tile_attention.h"
#include "kernels/cpu/tiles.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using cpu::kTileInner;
using cpu::kTileLines;
using cpu::kTileSize;
using cpu::tile_count;
using testing::of_bf16;
using testing::random_floats;
using testing::to_bf16;

namespace {

// A matrix of random floats, itself and its transpose, in float32 and in bf16.
struct Matrix {
  Matrix(Random& random, int64_t row_count, int64_t column_count)
      : rows(row_count), columns(column_count) {
    for (int64_t i = 0; i < rows * columns; ++i) {
      values.push_back(static_cast<float>(2 * random.uniform() - 1));
      narrow.push_back(to_bf16(values.back()));
    }
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) {
        turned.push_back(values[r * columns + c]);
        narrow_turned.push_back(narrow[r * columns + c]);
      }
    }
  }
  double at(int64_t r, int64_t c) const { return of_bf16(narrow[r * columns + c]); }
  cpu::TileSource source(bool transposed, bool bf16) const {
    const void* data =
        bf16 ? static_cast<const void*>(transposed ? narrow_turned.data() : narrow.data())
             : static_cast<const void*>(transposed ? turned.data() : values.data());
    return transposed ? cpu::TileSource{data, rows, columns, rows, bf16}
                      : cpu::TileSource{data, columns, rows, columns, bf16};
  }
  int64_t rows, columns;
  std::vector<float> values, turned;
  std::vector<uint16_t> narrow, narrow_turned;
};

// A buffer for an operand, followed by a guard.
constexpr uint16_t kGuard = 0x1234;
std::vector<uint16_t> tiles(int64_t lines, int64_t inner) {
  std::vector<uint16_t> room(static_cast<size_t>(tile_count(lines, kTileLines) *
                                                 tile_count(inner, kTileInner) * kTileSize));
  room.push_back(kGuard);
  return room;
}

}  // namespace

TEST_CASE("tile products equal matrix products for all kinds of operands") {
  const cpu::TileKernels* kernels = &testing::each_of(cpu::supported_tiles);
  CAPTURE(kernels->name);
  const auto [rows, inner, columns] = GENERATE(
      testing::Sizes{1, 1, 1}, testing::Sizes{16, 32, 16}, testing::Sizes{33, 40, 50},
      testing::Sizes{5, 31, 18}, testing::Sizes{64, 600, 97}, testing::Sizes{600, 17, 31},
      testing::Sizes{13, 70, 128}, testing::Sizes{7, 33, 180}, testing::Sizes{19, 550, 530});
  const bool turn_left = GENERATE(false, true), turn_right = GENERATE(false, true);
  const bool bf16 = GENERATE(false, true);
  const std::string start = GENERATE("nothing", "what is there", "a bias");
  CAPTURE(rows, inner, columns, turn_left, turn_right, bf16, start);
  Random random(7);
  const Matrix a(random, rows, inner), b(random, inner, columns);
  auto left = tiles(rows, inner), right = tiles(columns, inner);
  (turn_left ? kernels->left_transposed : kernels->left)(a.source(turn_left, bf16), left.data());
  (turn_right ? kernels->right_transposed : kernels->right)(b.source(turn_right, bf16),
                                                            right.data());
  const int64_t stride = columns + 2;  // what lies between rows is not ours
  std::vector<float> out(static_cast<size_t>(rows * stride), 0.25f);
  const int64_t inner_tiles = tile_count(inner, kTileInner);
  const bool add = start == "what is there";
  std::vector<float> bias(static_cast<size_t>(start == "a bias" ? columns : 0));
  for (size_t c = 0; c < bias.size(); ++c) bias[c] = static_cast<float>(c) / 8.0f;
  kernels->multiply({left.data(), right.data(), inner_tiles, rows, inner_tiles, columns, out.data(),
                     stride, add, bias.empty() ? nullptr : bias.data()});
  double worst = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      double expected = add ? 0.25 : bias.empty() ? 0.0 : bias[c];
      for (int64_t i = 0; i < inner; ++i) expected += a.at(r, i) * b.at(i, c);
      worst = std::max(worst, std::abs(expected - out[r * stride + c]));
    }
    for (int64_t c = columns; c < stride; ++c) CHECK(out[r * stride + c] == 0.25f);
  }
  CHECK(left.back() == kGuard);
  CHECK(right.back() == kGuard);
  CHECK(worst < 1e-5 * static_cast<double>(inner + 1));
}

TEST_CASE("rows are converted to bf16, optionally with ReLU, and NaN propagates") {
  const cpu::TileKernels* kernels = &testing::each_of(cpu::supported_tiles);
  CAPTURE(kernels->name);
  const int64_t rows = 2, columns = 19;
  std::vector<float> y(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i) - 20.0f;
  y[3] = std::numeric_limits<float>::quiet_NaN();
  const bool relu = GENERATE(true, false);
  std::vector<uint16_t> narrow(y.size());
  kernels->narrow(y.data(), columns, rows, columns, relu, narrow.data(), columns);
  CHECK(std::isnan(of_bf16(narrow[3])));
  for (size_t i = 4; i < y.size(); ++i) {
    CHECK(of_bf16(narrow[i]) == (relu ? std::max(0.0f, y[i]) : y[i]));
  }
  std::vector<float> sums(static_cast<size_t>(columns), 1.0f);
  kernels->add_rows({y.data(), columns, rows, columns, false}, sums.data());
  CHECK(sums[5] == 1.0f + y[5] + y[columns + 5]);
  std::vector<uint16_t> gradient(narrow.size()), passed(narrow.size());
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = narrow[gradient.size() - 1 - i];
  kernels->relu_gradient(narrow.data(), gradient.data(), passed.data(),
                         static_cast<int64_t>(narrow.size()));
  for (size_t i = 4; i < y.size(); ++i) CHECK(passed[i] == (y[i] > 0 ? gradient[i] : 0));
}

namespace {

struct Shape {
  int64_t queries, keys, d_k, d_v;
  bool causal;
  double dropout;
  int64_t window = 0;
};

constexpr float kStart = 0.5f;  // what gradients of keys and values are added to

// Rounding to bf16 moves each operand by at most 2^-9 of itself, up to 1.5 · 2^-8 where a sum of
// products has one sign. Gradients start at `start`.
void check_close(const std::vector<float>& tiles, const std::vector<float>& exact,
                 float start = 0.0f) {
  float largest = 0.0f;
  for (const float x : exact) largest = std::max(largest, std::abs(x - start));
  float furthest = 0.0f;
  for (size_t i = 0; i < exact.size(); ++i) {
    CHECK(std::isfinite(tiles[i]));
    furthest = std::max(furthest, std::abs(tiles[i] - exact[i]));
  }
  CHECK(furthest <= largest / 64);
}

}  // namespace

TEST_CASE("attention in bf16 tiles equals the float32 kernel up to rounding, dropout included") {
  const cpu::TileKernels* tiles = &testing::each_of(cpu::supported_tiles);
  const Shape c =
      GENERATE(Shape{64, 64, 32, 32, true, 0.0}, Shape{130, 130, 64, 64, true, 0.1},
               Shape{7, 1, 32, 64, false, 0.0}, Shape{33, 128, 40, 24, false, 0.3},
               Shape{200, 90, 64, 32, false, 0.0}, Shape{65, 257, 16, 100, false, 0.0},
               Shape{100, 40, 33, 31, true, 0.2}, Shape{1, 31, 8, 8, true, 0.0},
               Shape{70, 200, 40, 32, true, 0.1}, Shape{70, 600, 32, 40, false, 0.1},
               Shape{600, 600, 32, 32, true, 0.0}, Shape{90, 90, 32, 32, true, 0.1, 40});
  CAPTURE(tiles->name, c.queries, c.keys, c.d_k, c.d_v, c.causal, c.dropout, c.window);
  Random random(static_cast<uint64_t>(c.queries * 1000 + c.keys));
  const auto q = random_floats(random, c.queries * c.d_k),
             k = random_floats(random, c.keys * c.d_k), v = random_floats(random, c.keys * c.d_v),
             d_out = random_floats(random, c.queries * c.d_v);
  cpu::AttentionHead head = testing::head_of(q, k, v, c.queries, c.keys);
  head.causal = c.causal, head.window = c.window;
  head.first_index = 1234567;
  head.dropout = testing::dropout_of(c.dropout);
  // Exactly the required scratch, and a guard.
  const int64_t needed = cpu::tile_attention_scratch(c.keys, c.d_k, c.d_v);
  std::vector<float> scratch(static_cast<size_t>(needed) + 1, 3.0e30f);
  testing::AttentionResults rounded(head, kStart);
  cpu::tile_attention_forward(*tiles, head, rounded.out.data(), c.d_v, rounded.log_sum.data(),
                              scratch.data());
  cpu::tile_attention_backward(*tiles, head, rounded.gradients(d_out, c.d_v), scratch.data());
  CHECK(scratch.back() == 3.0e30f);

  const auto exact = testing::attention(cpu::kernels(), head, d_out, kStart);
  check_close(rounded.out, exact.out);
  check_close(rounded.log_sum, exact.log_sum);
  check_close(rounded.dq, exact.dq);
  check_close(rounded.dk, exact.dk, kStart);
  check_close(rounded.dv, exact.dv, kStart);
}

TEST_CASE("tile attention is for wide heads and long sentences without a window") {
  cpu::AttentionHead head{};
  head.keys = 48, head.d_k = head.d_v = 32;
  CHECK(cpu::suits_tile_attention(head));
  head.keys = 47;
  CHECK_FALSE(cpu::suits_tile_attention(head));
  head.keys = 48, head.d_v = 31;
  CHECK_FALSE(cpu::suits_tile_attention(head));
  head.d_v = 32, head.window = 8;
  CHECK_FALSE(cpu::suits_tile_attention(head));
}
