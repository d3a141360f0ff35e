// Label-smoothed cross entropy of rows of logits, and its gradient in their place: formula loss.
//
// Without it LibTorch moves 16 bytes a logit of bf16, in some 40 kernels a chunk; here it is read
// and written once, 4 bytes. Too slow without it: experiments/wmt14/base.json on a GPU, whose loss
// over 37,000 classes moves 15 GB an update (docs/explanation/gpu.md).
//
// A block holds a row in registers: kThreads threads of kParts groups of 16 bytes.
#include "kernels/cuda/device.h"

namespace attn::cuda {

struct Bf16Group {
  static constexpr int kNumbers = 8;
  uint4 bits;
  __device__ float get(int i) const {
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
    return i % 2 == 0 ? lower_bf16(words[i / 2]) : upper_bf16(words[i / 2]);
  }
  // One number of a row: get() with an index that is not constant would use local memory.
  __device__ static float of_row(const void* row, int64_t i) {
    return lower_bf16(static_cast<const uint16_t*>(row)[i]);
  }
  __device__ static Bf16Group of(const float* x) {
    return {make_uint4(packed_bf16(x[0], x[1]), packed_bf16(x[2], x[3]), packed_bf16(x[4], x[5]),
                       packed_bf16(x[6], x[7]))};
  }
  __device__ static float exponential(float x) { return __expf(x); }
};

struct FloatGroup {
  static constexpr int kNumbers = 4;
  float4 numbers;
  __device__ float get(int i) const {
    const float all[4] = {numbers.x, numbers.y, numbers.z, numbers.w};
    return all[i];
  }
  __device__ static float of_row(const void* row, int64_t i) {
    return static_cast<const float*>(row)[i];
  }
  __device__ static FloatGroup of(const float* x) { return {make_float4(x[0], x[1], x[2], x[3])}; }
  __device__ static float exponential(float x) { return expf(x); }
};

// -inf, which is what no class adds to the largest.
__device__ inline float lowest() {
  return __uint_as_float(0xff800000u);
}

template <class Group, int kThreads, int kParts>
__device__ inline void smoothed_loss(const LossRows& a) {
  constexpr int kWarps = kThreads / kWarpThreads;
  ATTN_SHARED(float, largests, kWarps);
  ATTN_SHARED(float, sums, kWarps);
  ATTN_SHARED(float, totals, kWarps);
  const int thread = threadIdx.x, lane = thread % kWarpThreads, warp = thread / kWarpThreads;
  const int64_t row = blockIdx.x;
  Group* logits = static_cast<Group*>(a.logits) + row * (a.stride / Group::kNumbers);
  const int groups = (a.classes + Group::kNumbers - 1) / Group::kNumbers;
  const int64_t target = a.targets[row];
  if (target < 0) {
    const float zeros[8] = {};
    for (int g = thread; a.gradient != 0 && g < groups; g += kThreads) logits[g] = Group::of(zeros);
    if (thread == 0) a.losses[row] = a.nlls[row] = 0.0f;
    return;
  }
  const bool excludes = a.excluded >= 0 && a.excluded != target;
  float at_target = 0.0f, at_excluded = 0.0f;  // read before the gradient takes their place
  if (thread == 0) {
    at_target = Group::of_row(logits, target);
    if (excludes) at_excluded = Group::of_row(logits, a.excluded);
  }
  Group own[kParts];
  float largest = lowest();
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const int group = part * kThreads + thread;
    if (group >= groups) continue;
    own[part] = logits[group];
#pragma unroll
    for (int i = 0; i < Group::kNumbers; ++i) {
      if (group * Group::kNumbers + i < a.classes) largest = fmaxf(largest, own[part].get(i));
    }
  }
  largest = warp_max(largest);
  if (lane == 0) largests[warp] = largest;
  __syncthreads();
  for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, largests[w]);
  float sum = 0.0f, total = 0.0f;  // of exponentials and of logits, relative to the largest
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const int group = part * kThreads + thread;
    if (group >= groups) continue;
#pragma unroll
    for (int i = 0; i < Group::kNumbers; ++i) {
      if (group * Group::kNumbers + i >= a.classes) continue;
      const float logit = own[part].get(i) - largest;
      sum += Group::exponential(logit);
      total += logit;
    }
  }
  sum = warp_sum(sum);
  total = warp_sum(total);
  if (lane == 0) {
    sums[warp] = sum;
    totals[warp] = total;
  }
  __syncthreads();
  sum = total = 0.0f;
  for (int w = 0; w < kWarps; ++w) {
    sum += sums[w];
    total += totals[w];
  }
  const float log_sum = logf(sum), log_z = log_sum + largest;
  if (thread == 0) {
    const float nll = log_sum - (at_target - largest);
    const float others = static_cast<float>(a.classes - (excludes ? 2 : 1));
    const float sum_others =
        total - (at_target - largest) - (excludes ? at_excluded - largest : 0.0f);
    a.nlls[row] = nll;
    a.losses[row] = a.target_probability * nll +
                    a.smoothing_per_class * (others * log_sum - sum_others) +
                    a.z_loss * log_z * log_z;
  }
  if (a.gradient == 0) return;
  const float inverse = (1.0f + 2.0f * a.z_loss * log_z) / sum;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const int group = part * kThreads + thread;
    if (group >= groups) continue;
    float d[Group::kNumbers];
#pragma unroll
    for (int i = 0; i < Group::kNumbers; ++i) {
      const int c = group * Group::kNumbers + i;
      float wanted = c == a.excluded ? 0.0f : a.smoothing_per_class;
      if (c == target) wanted = a.target_probability;
      d[i] = Group::exponential(own[part].get(i) - largest) * inverse - wanted;
    }
    logits[group] = Group::of(d);
  }
}

}  // namespace attn::cuda

#define SMOOTHED_LOSS(type, group, threads, parts)                                 \
  extern "C" __global__ void __launch_bounds__(threads)                            \
      smoothed_loss_##type##_##threads##_##parts(attn::cuda::LossRows arguments) { \
    attn::cuda::smoothed_loss<attn::cuda::group, threads, parts>(arguments);       \
  }
// Up to 4,096, 16,384 and 40,960 classes.
SMOOTHED_LOSS(bf16, Bf16Group, 256, 2)
SMOOTHED_LOSS(bf16, Bf16Group, 512, 4)
SMOOTHED_LOSS(bf16, Bf16Group, 1024, 5)
SMOOTHED_LOSS(fp32, FloatGroup, 256, 4)
SMOOTHED_LOSS(fp32, FloatGroup, 512, 8)
SMOOTHED_LOSS(fp32, FloatGroup, 1024, 10)
