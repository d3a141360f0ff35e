#include "kernels/cpu/tile_attention.h"

#include <algorithm>
#include <cmath>

namespace attn::cpu {
namespace {

// Queries per block: two tiles of the inner dimension in the gradients of keys and values.
constexpr int64_t kQueries = 64;
constexpr int64_t kFewestKeys = 48, kNarrowestHead = 32;

int64_t round_up(int64_t n, int64_t to) {
  return tile_count(n, to) * to;
}

// Floats between rows of scores: whole tiles, and not a multiple of 512 bytes, at which rows share
// a few sets of the cache.
int64_t score_stride(int64_t keys) {
  const int64_t whole = round_up(keys, kTileInner);
  return whole % 128 == 0 ? whole + kTileLines : whole;
}

// Tile operands are bf16: half as many floats.
int64_t operand_floats(int64_t lines, int64_t inner) {
  return round_up(lines, kTileLines) * round_up(inner, kTileInner) / 2;
}

// Hands out the parts of the scratch memory, each at a cache line.
class Room {
 public:
  explicit Room(float* scratch) : next_(scratch) {
    const auto address = reinterpret_cast<uintptr_t>(scratch);
    next_ += (64 - address % 64) % 64 / sizeof(float);
  }
  float* floats(int64_t count) {
    float* out = next_;
    next_ += round_up(count, 16);
    return out;
  }
  uint16_t* operand(int64_t lines, int64_t inner) {
    return reinterpret_cast<uint16_t*>(floats(operand_floats(lines, inner)));
  }

 private:
  float* next_;
};

// A block of queries and the keys that its last query may attend to.
struct Block {
  int64_t first, count, keys;
  int64_t columns() const { return round_up(keys, kTileLines); }
};

template <class F>
void for_each_block(const AttentionHead& head, F&& work) {
  for (int64_t first = 0; first < head.queries; first += kQueries) {
    const int64_t count = std::min(kQueries, head.queries - first);
    work(Block{first, count, head.causal ? std::min(first + count, head.keys) : head.keys});
  }
}

TileSource rows_of(const float* rows, int64_t stride, int64_t count, int64_t width) {
  return {.data = rows, .stride = stride, .rows = count, .columns = width, .narrow = false};
}

// The block's rows of `from` times `factor`, end to end.
void scale_rows(const float* from, int64_t stride, const Block& block, int64_t width, float factor,
                float* to) {
  for (int64_t q = 0; q < block.count; ++q) {
    const float* in = from + (block.first + q) * stride;
    for (int64_t c = 0; c < width; ++c) to[q * width + c] = in[c] * factor;
  }
}

// out = left × rightᵀ over the block's keys: scores, or gradients of weights.
void multiply_by_keys(const TileKernels& tiles, const uint16_t* left, const uint16_t* right,
                      const Block& block, int64_t width, float* out, int64_t out_stride) {
  const int64_t inner = tile_count(width, kTileInner);
  tiles.multiply({.left = left,
                  .right = right,
                  .right_stride = inner,
                  .rows = block.count,
                  .inner_tiles = inner,
                  .columns = block.columns(),
                  .out = out,
                  .out_stride = out_stride,
                  .add = false});
}

// out = weights × rows, summed over the block's keys.
void sum_over_keys(const TileKernels& tiles, const uint16_t* weights, const uint16_t* rows,
                   const Block& block, int64_t all_keys, int64_t width, float* out,
                   int64_t out_stride) {
  tiles.multiply({.left = weights,
                  .right = rows,
                  .right_stride = tile_count(all_keys, kTileInner),
                  .rows = block.count,
                  .inner_tiles = tile_count(block.keys, kTileInner),
                  .columns = width,
                  .out = out,
                  .out_stride = out_stride,
                  .add = false});
}

// out += weightsᵀ × rows, summed over the block's queries.
void add_over_queries(const TileKernels& tiles, const uint16_t* weights, const uint16_t* rows,
                      const Block& block, int64_t width, float* out, int64_t out_stride) {
  const int64_t inner = tile_count(block.count, kTileInner);
  tiles.multiply({.left = weights,
                  .right = rows,
                  .right_stride = inner,
                  .rows = block.keys,
                  .inner_tiles = inner,
                  .columns = width,
                  .out = out,
                  .out_stride = out_stride,
                  .add = true});
}

}  // namespace

bool suits_tile_attention(const AttentionHead& head) {
  return head.window == 0 && head.keys >= kFewestKeys && head.d_k >= kNarrowestHead &&
         head.d_v >= kNarrowestHead;
}

int64_t tile_attention_scratch(int64_t keys, int64_t d_k, int64_t d_v) {
  const int64_t widest = std::max(d_k, d_v);
  return 2 * operand_floats(keys, d_k) + operand_floats(keys, d_v) +  // packed keys and values
         operand_floats(d_k, keys) + operand_floats(d_v, keys) +
         4 * operand_floats(kQueries, widest) + 2 * kQueries * widest +  // a block's rows
         operand_floats(kQueries, keys) + operand_floats(keys, kQueries) +
         3 * kQueries * score_stride(keys) + 16 * 16;  // the last: alignment of the parts
}

void tile_attention_forward(const TileKernels& tiles, const AttentionHead& head, float* output,
                            int64_t output_stride, float* log_sum, float* scratch) {
  const int64_t stride = score_stride(head.keys);
  const float scale = 1.0f / std::sqrt(static_cast<float>(head.d_k));
  Room room(scratch);
  uint16_t* keys = room.operand(head.keys, head.d_k);
  uint16_t* values = room.operand(head.d_v, head.keys);
  uint16_t* left_queries = room.operand(kQueries, head.d_k);
  uint16_t* left_weights = room.operand(kQueries, head.keys);
  float* queries = room.floats(kQueries * head.d_k);
  float* weights = room.floats(kQueries * stride);
  tiles.right_transposed(rows_of(head.key, head.key_stride, head.keys, head.d_k), keys);
  tiles.right(rows_of(head.value, head.value_stride, head.keys, head.d_v), values);
  for_each_block(head, [&](const Block& block) {
    scale_rows(head.query, head.query_stride, block, head.d_k, scale, queries);
    tiles.left(rows_of(queries, head.d_k, block.count, head.d_k), left_queries);
    multiply_by_keys(tiles, left_queries, keys, block, head.d_k, weights, stride);
    for (int64_t q = 0; q < block.count; ++q) {
      log_sum[block.first + q] =
          kernels().attention_weights(head, block.first + q, block.keys, weights + q * stride);
    }
    tiles.left(rows_of(weights, stride, block.count, block.keys), left_weights);
    sum_over_keys(tiles, left_weights, values, block, head.keys, head.d_v,
                  output + block.first * output_stride, output_stride);
  });
}

void tile_attention_backward(const TileKernels& tiles, const AttentionHead& head,
                             const AttentionGradients& gradients, float* scratch) {
  const int64_t stride = score_stride(head.keys), widest = std::max(head.d_k, head.d_v);
  const float scale = 1.0f / std::sqrt(static_cast<float>(head.d_k));
  Room room(scratch);
  uint16_t* keys = room.operand(head.keys, head.d_k);
  uint16_t* key_rows = room.operand(head.d_k, head.keys);
  uint16_t* values = room.operand(head.keys, head.d_v);
  uint16_t* left_rows = room.operand(kQueries, widest);
  uint16_t* query_rows = room.operand(head.d_k, kQueries);
  uint16_t* output_rows = room.operand(head.d_v, kQueries);
  uint16_t* left_weights = room.operand(kQueries, head.keys);
  uint16_t* turned_weights = room.operand(head.keys, kQueries);
  float* queries = room.floats(kQueries * head.d_k);
  float* weights = room.floats(kQueries * stride);
  float* dropped = room.floats(kQueries * stride);
  float* scores = room.floats(kQueries * stride);
  const TileSource all_keys = rows_of(head.key, head.key_stride, head.keys, head.d_k);
  tiles.right_transposed(all_keys, keys);
  tiles.right(all_keys, key_rows);
  tiles.right_transposed(rows_of(head.value, head.value_stride, head.keys, head.d_v), values);
  for_each_block(head, [&](const Block& block) {
    const TileSource of_queries = rows_of(head.query + block.first * head.query_stride,
                                          head.query_stride, block.count, head.d_k);
    const TileSource of_outputs = rows_of(gradients.output + block.first * gradients.output_stride,
                                          gradients.output_stride, block.count, head.d_v);
    scale_rows(head.query, head.query_stride, block, head.d_k, scale, queries);
    tiles.left(rows_of(queries, head.d_k, block.count, head.d_k), left_rows);
    multiply_by_keys(tiles, left_rows, keys, block, head.d_k, weights, stride);
    tiles.left(of_outputs, left_rows);
    multiply_by_keys(tiles, left_rows, values, block, head.d_v, scores, stride);
    for (int64_t q = 0; q < block.count; ++q) {
      kernels().attention_score_gradients(head, block.first + q, block.keys,
                                          gradients.log_sum[block.first + q], weights + q * stride,
                                          dropped + q * stride, scores + q * stride);
    }
    const TileSource of_scores = rows_of(scores, stride, block.count, block.keys);
    tiles.left(of_scores, left_weights);
    sum_over_keys(tiles, left_weights, key_rows, block, head.keys, head.d_k,
                  gradients.query + block.first * head.query_stride, head.query_stride);
    tiles.left_transposed(of_scores, turned_weights);
    tiles.right(of_queries, query_rows);
    add_over_queries(tiles, turned_weights, query_rows, block, head.d_k, gradients.key,
                     head.key_stride);
    tiles.left_transposed(rows_of(dropped, stride, block.count, block.keys), turned_weights);
    tiles.right(of_outputs, output_rows);
    add_over_queries(tiles, turned_weights, output_rows, block, head.d_v, gradients.value,
                     head.value_stride);
  });
}

}  // namespace attn::cpu
