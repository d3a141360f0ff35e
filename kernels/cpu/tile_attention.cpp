#include "kernels/cpu/tile_attention.h"

#include <algorithm>
#include <cmath>

namespace attn::cpu {
namespace {

// Queries per block: two tiles of the inner dimension in the gradients of keys and values.
constexpr int64_t kQueries = 64;
constexpr int64_t kMinKeys = 48, kMinHeadWidth = 32;

int64_t round_up(int64_t n, int64_t to) {
  return tile_count(n, to) * to;
}

// Floats between rows of scores: whole tiles, and not a multiple of 512 bytes, at which rows share
// a few sets of the cache.
int64_t score_stride(int64_t keys) {
  const int64_t whole = round_up(keys, kTileInner);
  return whole % 128 == 0 ? whole + kTileLines : whole;
}

// Hands out the parts of the scratch memory, whole cache lines each; without memory it only counts.
class Room {
 public:
  Room() = default;
  explicit Room(float* scratch) {
    const auto address = reinterpret_cast<uintptr_t>(scratch);
    memory_ = scratch + (64 - address % 64) % 64 / sizeof(float);
  }
  float* floats(int64_t count) {
    float* part = memory_ != nullptr ? memory_ + used_ : nullptr;
    used_ += round_up(count, kLine);
    return part;
  }
  // Tile operands are bf16: half as many floats.
  uint16_t* operand(int64_t lines, int64_t inner) {
    return reinterpret_cast<uint16_t*>(
        floats(round_up(lines, kTileLines) * round_up(inner, kTileInner) / 2));
  }
  // With those lost to the alignment of the first part.
  int64_t needed() const { return used_ + kLine - 1; }

 private:
  static constexpr int64_t kLine = 16;
  float* memory_ = nullptr;
  int64_t used_ = 0;
};

struct ForwardParts {
  ForwardParts(Room room, int64_t all_keys, int64_t d_k, int64_t d_v)
      : keys(room.operand(all_keys, d_k)),
        values(room.operand(d_v, all_keys)),
        left_queries(room.operand(kQueries, d_k)),
        left_weights(room.operand(kQueries, all_keys)),
        queries(room.floats(kQueries * d_k)),
        weights(room.floats(kQueries * score_stride(all_keys))),
        needed(room.needed()) {}
  uint16_t *keys, *values;                // right operands: transposed, and as rows
  uint16_t *left_queries, *left_weights;  // of a block of queries
  float *queries, *weights;
  int64_t needed;
};

struct BackwardParts {
  BackwardParts(Room room, int64_t all_keys, int64_t d_k, int64_t d_v)
      : keys(room.operand(all_keys, d_k)),
        key_rows(room.operand(d_k, all_keys)),
        values(room.operand(all_keys, d_v)),
        left_rows(room.operand(kQueries, std::max(d_k, d_v))),
        right_rows(room.operand(std::max(d_k, d_v), kQueries)),
        left_weights(room.operand(kQueries, all_keys)),
        turned_weights(room.operand(all_keys, kQueries)),
        queries(room.floats(kQueries * d_k)),
        weights(room.floats(kQueries * score_stride(all_keys))),
        dropped(room.floats(kQueries * score_stride(all_keys))),
        scores(room.floats(kQueries * score_stride(all_keys))),
        needed(room.needed()) {}
  uint16_t *keys, *key_rows, *values;  // right operands: transposed, as rows, transposed
  uint16_t *left_rows, *right_rows;    // of a block: queries or gradients of outputs
  uint16_t *left_weights, *turned_weights;
  float *queries, *weights, *dropped, *scores;
  int64_t needed;
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

TileSource queries_of(const AttentionHead& head, const Block& block) {
  return rows_of(head.query + block.first * head.query_stride, head.query_stride, block.count,
                 head.d_k);
}

// The block's queries / √d_k as a left operand, through `scaled`.
void pack_scaled_queries(const TileKernels& tiles, const AttentionHead& head, const Block& block,
                         float* scaled, uint16_t* left) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(head.d_k));
  for (int64_t q = 0; q < block.count; ++q) {
    const float* in = head.query + (block.first + q) * head.query_stride;
    for (int64_t c = 0; c < head.d_k; ++c) scaled[q * head.d_k + c] = in[c] * scale;
  }
  tiles.left(rows_of(scaled, head.d_k, block.count, head.d_k), left);
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
  return head.window == 0 && head.bias == nullptr && head.relative.key == nullptr &&
         head.keys >= kMinKeys && head.d_k >= kMinHeadWidth && head.d_v >= kMinHeadWidth;
}

int64_t tile_attention_scratch(int64_t keys, int64_t d_k, int64_t d_v) {
  return std::max(ForwardParts(Room(), keys, d_k, d_v).needed,
                  BackwardParts(Room(), keys, d_k, d_v).needed);
}

void tile_attention_forward(const TileKernels& tiles, const AttentionHead& head, float* output,
                            int64_t output_stride, float* log_sum, float* scratch) {
  const int64_t stride = score_stride(head.keys);
  const ForwardParts parts(Room(scratch), head.keys, head.d_k, head.d_v);
  tiles.right_transposed(rows_of(head.key, head.key_stride, head.keys, head.d_k), parts.keys);
  tiles.right(rows_of(head.value, head.value_stride, head.keys, head.d_v), parts.values);
  for_each_block(head, [&](const Block& block) {
    pack_scaled_queries(tiles, head, block, parts.queries, parts.left_queries);
    multiply_by_keys(tiles, parts.left_queries, parts.keys, block, head.d_k, parts.weights, stride);
    for (int64_t q = 0; q < block.count; ++q) {
      log_sum[block.first + q] = kernels().attention_weights(head, block.first + q, block.keys,
                                                             parts.weights + q * stride);
    }
    tiles.left(rows_of(parts.weights, stride, block.count, block.keys), parts.left_weights);
    sum_over_keys(tiles, parts.left_weights, parts.values, block, head.keys, head.d_v,
                  output + block.first * output_stride, output_stride);
  });
}

void tile_attention_backward(const TileKernels& tiles, const AttentionHead& head,
                             const AttentionGradients& gradients, float* scratch) {
  const int64_t stride = score_stride(head.keys);
  const BackwardParts parts(Room(scratch), head.keys, head.d_k, head.d_v);
  const TileSource keys = rows_of(head.key, head.key_stride, head.keys, head.d_k);
  tiles.right_transposed(keys, parts.keys);
  tiles.right(keys, parts.key_rows);
  tiles.right_transposed(rows_of(head.value, head.value_stride, head.keys, head.d_v), parts.values);
  for_each_block(head, [&](const Block& block) {
    const TileSource outputs = rows_of(gradients.output + block.first * gradients.output_stride,
                                       gradients.output_stride, block.count, head.d_v);
    pack_scaled_queries(tiles, head, block, parts.queries, parts.left_rows);
    multiply_by_keys(tiles, parts.left_rows, parts.keys, block, head.d_k, parts.weights, stride);
    tiles.left(outputs, parts.left_rows);
    multiply_by_keys(tiles, parts.left_rows, parts.values, block, head.d_v, parts.scores, stride);
    for (int64_t q = 0; q < block.count; ++q) {
      const int64_t at = q * stride;
      kernels().attention_score_gradients(head, block.first + q, block.keys,
                                          gradients.log_sum[block.first + q], parts.weights + at,
                                          parts.dropped + at, parts.scores + at);
    }
    const TileSource scores = rows_of(parts.scores, stride, block.count, block.keys);
    tiles.left(scores, parts.left_weights);
    sum_over_keys(tiles, parts.left_weights, parts.key_rows, block, head.keys, head.d_k,
                  gradients.query + block.first * head.query_stride, head.query_stride);
    tiles.left_transposed(scores, parts.turned_weights);
    tiles.right(queries_of(head, block), parts.right_rows);
    add_over_queries(tiles, parts.turned_weights, parts.right_rows, block, head.d_k, gradients.key,
                     head.key_stride);
    tiles.left_transposed(rows_of(parts.dropped, stride, block.count, block.keys),
                          parts.turned_weights);
    tiles.right(outputs, parts.right_rows);
    add_over_queries(tiles, parts.turned_weights, parts.right_rows, block, head.d_v,
                     gradients.value, head.value_stride);
  });
}

}  // namespace attn::cpu
