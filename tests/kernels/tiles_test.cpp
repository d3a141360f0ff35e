// Products of bf16 tiles against loops in double precision, on buffers of exactly the required
// size. All implementations that the machine supports, including plain C++, run the same cases.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
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
      : rows(row_count), columns(column_count), values(random_floats(random, rows * columns)) {
    for (const float value : values) narrow.push_back(to_bf16(value));
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

// A buffer of NaN for an operand, followed by a guard.
constexpr uint16_t kGuard = 0x1234, kNaN = 0x7fff;
std::vector<uint16_t> tiles(int64_t lines, int64_t inner) {
  std::vector<uint16_t> room(static_cast<size_t>(tile_count(lines, kTileLines) *
                                                 tile_count(inner, kTileInner) * kTileSize),
                             kNaN);
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
  bool close = true;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      double expected = add ? 0.25 : bias.empty() ? 0.0 : bias[c];
      for (int64_t i = 0; i < inner; ++i) expected += a.at(r, i) * b.at(i, c);
      close &= std::abs(expected - out[r * stride + c]) < 1e-5 * static_cast<double>(inner + 1);
    }
    for (int64_t c = columns; c < stride; ++c) CHECK(out[r * stride + c] == 0.25f);
  }
  CHECK(left.back() == kGuard);
  CHECK(right.back() == kGuard);
  CHECK(close);
}

TEST_CASE("rows are converted to bf16, NaN to NaN, and added up") {
  const cpu::TileKernels* kernels = &testing::each_of(cpu::supported_tiles);
  CAPTURE(kernels->name);
  const int64_t rows = 2, columns = 19;
  std::vector<float> y(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < y.size(); ++i) y[i] = (static_cast<float>(i) - 20.0f) * 513 / 512;
  y[3] = std::numeric_limits<float>::quiet_NaN();
  std::vector<uint16_t> narrow(y.size());
  kernels->narrow(y.data(), columns, rows, columns, narrow.data(), columns);
  CHECK(std::isnan(of_bf16(narrow[3])));
  for (size_t i = 4; i < y.size(); ++i) CHECK(narrow[i] == to_bf16(y[i]));
  std::vector<float> sums(static_cast<size_t>(columns), 1.0f);
  kernels->add_rows({y.data(), columns, rows, columns, false}, sums.data());
  CHECK(sums[5] == 1.0f + y[5] + y[columns + 5]);
}
