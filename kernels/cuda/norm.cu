// norm(x + dropout(update)), LayerNorm or RMSNorm, and its gradients: formulas norm and dropout.
// Where the sum is also the residual connection's (norm=pre), both its gradients become one.
//
// Without it LibTorch launches seven kernels that move 54 bytes an element, here two move 28.
// Too slow without it: experiments/wmt14/base.json on a GPU, where elementwise work moves 62 GB an
// update of 25,000 tokens (docs/explanation/gpu.md).
//
// A warp holds a row in registers, four neighbouring numbers a thread and part: kParts parts of 128
// numbers. Sums over rows are of fixed blocks of rows, which the caller adds up in order.
#include "kernels/cuda/device.h"

namespace attn::cuda {

template <int kParts>
__device__ inline void norm_forward(const NormForward& a) {
  const int lane = threadIdx.x % kWarpThreads;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kNormRows + threadIdx.x / kWarpThreads;
  if (row >= a.rows) return;
  const int64_t first = row * a.width;
  const DropoutMask mask(a.dropout);
  Four rows[kParts];
  float total = 0.0f;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const int column = part * kPartWidth + lane * 4;
    if (column >= a.width) continue;
    Four x = load_four(a.x, first + column);
    if (a.update.data != nullptr) {
      const Four update = load_four(a.update, first + column);
#pragma unroll
      for (int i = 0; i < 4; ++i) x.at[i] += update.at[i] * mask.factor(first + column + i);
      store_four(a.sum, first + column, x);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) total += x.at[i];
    rows[part] = x;
  }
  const float mean = a.bias != nullptr ? warp_sum(total) / a.width : 0.0f;
  float squares = 0.0f;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    if (part * kPartWidth + lane * 4 >= a.width) continue;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float centered = rows[part].at[i] - mean;
      squares += centered * centered;
    }
  }
  const float rstd = rsqrtf(warp_sum(squares) / a.width + a.epsilon);
  if (lane == 0) {
    a.mean[row] = mean;
    a.rstd[row] = rstd;
  }
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const int column = part * kPartWidth + lane * 4;
    if (column >= a.width) continue;
    const Four weight = load_four(a.weight, column);
    Four out = {};
    if (a.bias != nullptr) out = load_four(a.bias, column);
#pragma unroll
    for (int i = 0; i < 4; ++i) out.at[i] += (rows[part].at[i] - mean) * rstd * weight.at[i];
    store_four(a.output, first + column, out);
  }
}

// kBeside: of norm(x), whose x has a gradient of its own; else of norm(x + dropout(update)). In one
// instance the widest rows would not fit into registers.
template <int kParts, bool kBeside>
__device__ inline void norm_backward(const NormBackward& a) {
  const int lane = threadIdx.x % kWarpThreads, warp = threadIdx.x / kWarpThreads;
  const DropoutMask mask(a.dropout);
  Four d_weight[kParts] = {}, d_bias[kParts] = {};
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kNormBackwardRows;
  for (int64_t row = begin + warp; row < begin + kNormBackwardRows; row += kNormBackwardWarps) {
    if (row >= a.rows) break;
    const int64_t first = row * a.width;
    const float mean = a.mean[row], rstd = a.rstd[row];
    Four normal[kParts], scaled[kParts];
    float sum_scaled = 0.0f, sum_products = 0.0f;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int column = part * kPartWidth + lane * 4;
      if (column >= a.width) continue;
      const Four d_output = load_four(a.d_output, first + column);
      const Four sum = load_four(a.sum, first + column), weight = load_four(a.weight, column);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        normal[part].at[i] = (sum.at[i] - mean) * rstd;
        scaled[part].at[i] = d_output.at[i] * weight.at[i];
        sum_scaled += scaled[part].at[i];
        sum_products += scaled[part].at[i] * normal[part].at[i];
        d_weight[part].at[i] += d_output.at[i] * normal[part].at[i];
        d_bias[part].at[i] += d_output.at[i];
      }
    }
    // RMSNorm subtracts no mean.
    const float mean_scaled = a.has_bias != 0 ? warp_sum(sum_scaled) / a.width : 0.0f;
    const float mean_products = warp_sum(sum_products) / a.width;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int column = part * kPartWidth + lane * 4;
      if (column >= a.width) continue;
      Four d_x;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        d_x.at[i] = rstd * (scaled[part].at[i] - mean_scaled - normal[part].at[i] * mean_products);
      }
      if (kBeside) {
        const Four d_residual = load_four(a.d_residual, first + column);
#pragma unroll
        for (int i = 0; i < 4; ++i) d_x.at[i] += d_residual.at[i];
      }
      store_four(a.d_x, first + column, d_x);
      if (kBeside || a.d_update.data == nullptr) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) d_x.at[i] *= mask.factor(first + column + i);
      store_four(a.d_update, first + column, d_x);
    }
  }
  // The warps' sums, part by part, each column in the order of the warps.
  ATTN_SHARED(float, of_warps, 2 * kNormBackwardWarps * kPartWidth);
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      of_warps[warp * kPartWidth + lane * 4 + i] = d_weight[part].at[i];
      of_warps[(kNormBackwardWarps + warp) * kPartWidth + lane * 4 + i] = d_bias[part].at[i];
    }
    __syncthreads();
    const int kind = threadIdx.x / kPartWidth;  // 0: weight, 1: bias
    const int column = part * kPartWidth + threadIdx.x % kPartWidth;
    if (column < a.width && kind <= a.has_bias) {
      float total = 0.0f;
      for (int w = 0; w < kNormBackwardWarps; ++w) {
        total += of_warps[(kind * kNormBackwardWarps + w) * kPartWidth + threadIdx.x % kPartWidth];
      }
      const int64_t block = static_cast<int64_t>(kind) * gridDim.x + blockIdx.x;
      a.partial[block * a.width + column] = total;
    }
    __syncthreads();
  }
}

}  // namespace attn::cuda

// Rows of up to 128, 256, 512 and 1,024 numbers.
#define NORM(parts)                                                                             \
  extern "C" __global__ void __launch_bounds__(attn::cuda::kNormRows* attn::cuda::kWarpThreads) \
      norm_forward_##parts(attn::cuda::NormForward arguments) {                                 \
    attn::cuda::norm_forward<parts>(arguments);                                                 \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(                                                 \
      attn::cuda::kNormBackwardWarps* attn::cuda::kWarpThreads)                                 \
      norm_backward_##parts(attn::cuda::NormBackward arguments) {                               \
    attn::cuda::norm_backward<parts, false>(arguments);                                         \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(                                                 \
      attn::cuda::kNormBackwardWarps* attn::cuda::kWarpThreads)                                 \
      norm_beside_backward_##parts(attn::cuda::NormBackward arguments) {                        \
    attn::cuda::norm_backward<parts, true>(arguments);                                          \
  }
NORM(1)
NORM(2)
NORM(4)
NORM(8)
