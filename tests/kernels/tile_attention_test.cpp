// Attention with products in bf16 tiles against the float32 kernel. All implementations of tiles
// that the machine supports, including plain C++, run the same cases.
#include "kernels/cpu/tile_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::random_floats;

namespace {

struct Shape {
  int64_t queries, keys, d_k, d_v;
  bool causal;
  double dropout;
  int64_t window = 0;
};

constexpr float kStart = 0.5f;  // what gradients of keys and values are added to

struct Results {
  explicit Results(const Shape& c)
      : out(size(c.queries * c.d_v)),
        log_sum(size(c.queries)),
        dq(size(c.queries * c.d_k)),
        dk(size(c.keys * c.d_k), kStart),
        dv(size(c.keys * c.d_v), kStart) {}
  static size_t size(int64_t n) { return static_cast<size_t>(n); }
  std::vector<float> out, log_sum, dq, dk, dv;
};

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
  std::vector<const cpu::TileKernels*> all;
  while (const auto* kernels = cpu::supported_tiles(static_cast<int64_t>(all.size()))) {
    all.push_back(kernels);
  }
  const cpu::TileKernels* tiles = GENERATE_COPY(from_range(all));
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
  cpu::AttentionHead head{};
  head.query = q.data(), head.key = k.data(), head.value = v.data();
  head.query_stride = head.key_stride = head.d_k = c.d_k;
  head.value_stride = head.d_v = c.d_v;
  head.queries = c.queries, head.keys = c.keys, head.causal = c.causal, head.window = c.window;
  head.first_index = 1234567;
  head.dropout = testing::dropout_of(c.dropout);
  // Exactly the required scratch, and a guard.
  const int64_t needed = cpu::tile_attention_scratch(c.keys, c.d_k, c.d_v);
  std::vector<float> scratch(static_cast<size_t>(needed) + 1, 3.0e30f);
  Results rounded(c), exact(c);
  cpu::tile_attention_forward(*tiles, head, rounded.out.data(), c.d_v, rounded.log_sum.data(),
                              scratch.data());
  cpu::tile_attention_backward(*tiles, head,
                               {d_out.data(), c.d_v, rounded.log_sum.data(), rounded.dq.data(),
                                rounded.dk.data(), rounded.dv.data()},
                               scratch.data());
  CHECK(scratch.back() == 3.0e30f);

  const cpu::Kernels& kernels = cpu::kernels();
  std::vector<float> room(static_cast<size_t>(kernels.attention_scratch(c.keys, c.d_k, c.d_v)));
  kernels.attention_forward(head, exact.out.data(), c.d_v, exact.log_sum.data(), room.data());
  kernels.attention_backward(head,
                             {d_out.data(), c.d_v, exact.log_sum.data(), exact.dq.data(),
                              exact.dk.data(), exact.dv.data()},
                             room.data());
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
