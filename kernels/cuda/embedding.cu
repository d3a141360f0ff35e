// Rows of an embedding matrix, scaled, with positions and dropout, and the gradient of the matrix:
// formulas embedding, position and dropout.
//
// Without it LibTorch launches five kernels and, for the gradient, a dozen whose order of sums is
// not that of the rows. Too slow without it: experiments/multi30k/table3_base.json on a GPU, whose
// updates are as long as their launches (docs/explanation/gpu.md).
#include "kernels/cuda/device.h"

namespace attn::cuda {

// A row by a warp.
__device__ inline void embedding_forward_rows(const EmbeddingForward& a) {
  const int lane = threadIdx.x % kWarpThreads;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kEmbeddingThreads / kWarpThreads) +
                      threadIdx.x / kWarpThreads;
  if (row >= a.rows) return;
  const DropoutMask mask(a.dropout);
  const int64_t from = a.tokens[row] * a.width;
  const int64_t position = a.positions[row] * a.width;
  for (int column = lane * 4; column < a.width; column += kWarpThreads * 4) {
    Four x = load_four(a.weight, from + column);
    const Four added = load_four(a.table, position + column);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x.at[i] = (x.at[i] * a.scale + added.at[i]) * mask.factor(row * a.width + column + i);
    }
    store_four(a.output, row * a.width + column, x);
  }
}

// A chunk of sorted tokens by a block, a thread for every fourth column: a token's rows are added
// in their order. A token that reaches into the chunk before or after leaves its sum here to
// embedding_backward_join.
__device__ inline void embedding_backward_chunk(const EmbeddingBackward& a) {
  const DropoutMask mask(a.dropout);
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kEmbeddingChunk;
  const int64_t end = begin + kEmbeddingChunk < a.rows ? begin + kEmbeddingChunk : a.rows;
  for (int column = threadIdx.x * 4; column < a.width; column += kEmbeddingThreads * 4) {
    Four sum = {};
    int64_t first = begin;  // of the token
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = a.rows_of[i] * a.width + column, token = a.tokens[i];
      const Four d = load_four(a.d_output, row);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum.at[k] += a.scale * (d.at[k] * mask.factor(row + k));
      if (i + 1 < end && a.tokens[i + 1] == token) continue;
      const bool before = first == begin && begin > 0 && a.tokens[begin - 1] == token;
      const bool after = i + 1 == end && end < a.rows && a.tokens[end] == token;
      if (before || after) {
        const int64_t slot = before ? blockIdx.x : gridDim.x + static_cast<int64_t>(blockIdx.x);
        store_four(a.partial, slot * a.width + column, sum);
      } else {
        Four total = load_four(a.d_weight, token * a.width + column);
#pragma unroll
        for (int k = 0; k < 4; ++k) total.at[k] += sum.at[k];
        store_four(a.d_weight, token * a.width + column, total);
      }
      sum = {};
      first = i + 1;
    }
  }
}

// Adds up the token that begins in this block's chunk and reaches into later ones.
__device__ inline void embedding_backward_joined(const EmbeddingBackward& a) {
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kEmbeddingChunk;
  const int64_t end = begin + kEmbeddingChunk;
  if (end >= a.rows || a.tokens[end] != a.tokens[end - 1]) return;
  const int64_t token = a.tokens[end - 1];
  if (begin > 0 && a.tokens[begin - 1] == token) return;  // it began before
  for (int column = threadIdx.x * 4; column < a.width; column += kEmbeddingThreads * 4) {
    const int64_t own = gridDim.x + static_cast<int64_t>(blockIdx.x);
    Four sum = load_four(a.partial, own * a.width + column);
    for (int64_t chunk = blockIdx.x + 1; chunk * kEmbeddingChunk < a.rows; ++chunk) {
      if (a.tokens[chunk * kEmbeddingChunk] != token) break;
      const Four more = load_four(a.partial, chunk * a.width + column);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum.at[k] += more.at[k];
    }
    const Four before = load_four(a.d_weight, token * a.width + column);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum.at[k] += before.at[k];
    store_four(a.d_weight, token * a.width + column, sum);
  }
}

}  // namespace attn::cuda

extern "C" __global__ void __launch_bounds__(attn::cuda::kEmbeddingThreads)
    embedding_forward(attn::cuda::EmbeddingForward arguments) {
  attn::cuda::embedding_forward_rows(arguments);
}

extern "C" __global__ void __launch_bounds__(attn::cuda::kEmbeddingThreads)
    embedding_backward(attn::cuda::EmbeddingBackward arguments) {
  attn::cuda::embedding_backward_chunk(arguments);
}

extern "C" __global__ void __launch_bounds__(attn::cuda::kEmbeddingThreads)
    embedding_backward_join(attn::cuda::EmbeddingBackward arguments) {
  attn::cuda::embedding_backward_joined(arguments);
}
