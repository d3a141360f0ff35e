// What kernels share: bf16, four numbers at a time, sums over a warp, the dropout of kernels/cpu.
// Read by NVRTC and, after tests/support/cuda_emulator.h, by a C++ compiler.
#pragma once

#include "kernels/cuda/arguments.h"

// An array that the threads of a block share; the emulator watches it.
#ifndef ATTN_SHARED
#define ATTN_SHARED(type, name, size) __shared__ type name[size]
#endif

namespace attn::cuda {

constexpr uint32_t kAllLanes = 0xffffffffu;

#ifdef __CUDACC_RTC__
// Both rounded to nearest even, `first` in the lower half.
__device__ inline uint32_t packed_bf16(float first, float second) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}
#endif

__device__ inline float lower_bf16(uint32_t bits) {
  return __uint_as_float(bits << 16);
}

__device__ inline float upper_bf16(uint32_t bits) {
  return __uint_as_float(bits & 0xffff0000u);
}

struct Four {
  float at[4];
};

// The four numbers from `index`, a multiple of four, on.
__device__ inline Four load_four(const Numbers& from, int64_t index) {
  if (from.bf16 != 0) {
    const uint2 bits = static_cast<const uint2*>(from.data)[index / 4];
    return {lower_bf16(bits.x), upper_bf16(bits.x), lower_bf16(bits.y), upper_bf16(bits.y)};
  }
  const float4 x = static_cast<const float4*>(from.data)[index / 4];
  return {x.x, x.y, x.z, x.w};
}

__device__ inline Four load_four(const float* from, int64_t index) {
  const float4 x = reinterpret_cast<const float4*>(from)[index / 4];
  return {x.x, x.y, x.z, x.w};
}

__device__ inline void store_four(const Numbers& to, int64_t index, const Four& x) {
  if (to.bf16 != 0) {
    static_cast<uint2*>(to.data)[index / 4] =
        make_uint2(packed_bf16(x.at[0], x.at[1]), packed_bf16(x.at[2], x.at[3]));
  } else {
    static_cast<float4*>(to.data)[index / 4] = make_float4(x.at[0], x.at[1], x.at[2], x.at[3]);
  }
}

__device__ inline void store_four(float* to, int64_t index, const Four& x) {
  reinterpret_cast<float4*>(to)[index / 4] = make_float4(x.at[0], x.at[1], x.at[2], x.at[3]);
}

// Of all threads of a warp, in each of them.
__device__ inline float warp_sum(float x) {
  for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
    x += __shfl_xor_sync(kAllLanes, x, distance);
  }
  return x;
}

__device__ inline float warp_max(float x) {
  for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
    x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, distance));
  }
  return x;
}

// The masks of kernels/cpu/math_body.h, bit for bit.
class DropoutMask {
 public:
  __device__ explicit DropoutMask(const Dropout& dropout)
      : threshold_(dropout.threshold), scale_(dropout.scale) {
    uint64_t key = dropout.draw + (dropout.seed != nullptr ? *dropout.seed : 0);
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ull;  // mix64 of base/random.h
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebull;
    key ^= key >> 31;
    low_ = static_cast<uint32_t>(key);
    high_ = static_cast<uint32_t>(key >> 32);
  }

  // 0 or 1 / (1 - p).
  __device__ float factor(int64_t index) const {
    if (threshold_ == 0) return 1.0f;
    const uint64_t element = static_cast<uint64_t>(index);
    uint32_t x = static_cast<uint32_t>(element) * 0x9e3779b1u + low_ +
                 static_cast<uint32_t>(element >> 32) * 0x632be5abu;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = ((x ^ (x >> 13)) + high_) * 0xc2b2ae35u;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    return (x ^ (x >> 15)) < threshold_ ? 0.0f : scale_;
  }

 private:
  uint32_t low_, high_, threshold_;
  float scale_;
};

}  // namespace attn::cuda
