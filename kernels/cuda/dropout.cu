// added + dropout(in), of elements: formula dropout, and the residual connection with norm=pre.
//
// It draws the masks of a CPU, so that all dropout of an update is of one generator, and keeps
// none. Too slow without it: experiments/wmt14/base.json on a GPU (docs/explanation/gpu.md), where
// LibTorch's dropout writes a mask and reads it again.
#include "kernels/cuda/device.h"

namespace attn::cuda {

__device__ inline float element(const Numbers& from, int64_t index) {
  if (from.bf16 == 0) return static_cast<const float*>(from.data)[index];
  return lower_bf16(static_cast<const uint16_t*>(from.data)[index]);
}

__device__ inline void drop(const DropoutElements& a) {
  const DropoutMask mask(a.dropout);
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kDropoutThreads + threadIdx.x;
  const int64_t first = thread * 4;
  if (first + 4 <= a.count) {
    Four x = load_four(a.in, first), added = {};
    if (a.added.data != nullptr) added = load_four(a.added, first);
#pragma unroll
    for (int i = 0; i < 4; ++i) x.at[i] = added.at[i] + x.at[i] * mask.factor(first + i);
    store_four(a.out, first, x);
    return;
  }
  for (int64_t i = first; i < a.count; ++i) {
    const float added = a.added.data != nullptr ? element(a.added, i) : 0.0f;
    const float x = added + element(a.in, i) * mask.factor(i);
    if (a.out.bf16 != 0) {
      static_cast<uint16_t*>(a.out.data)[i] = static_cast<uint16_t>(packed_bf16(x, 0.0f));
    } else {
      static_cast<float*>(a.out.data)[i] = x;
    }
  }
}

}  // namespace attn::cuda

extern "C" __global__ void __launch_bounds__(attn::cuda::kDropoutThreads)
    dropout_elements(attn::cuda::DropoutElements arguments) {
  attn::cuda::drop(arguments);
}
