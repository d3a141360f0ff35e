// What tests/support/cuda_emulator.h finds in kernels.
#include "tests/support/cuda_emulator.h"

#include "tests/support/catch.h"

using attn::testing::contains;
using attn::testing::emulator::Scheduler;

namespace {

struct Out {
  float* sums;
};

float lane_sum(float x) {
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

// The sum of all threads' numbers, in each thread. Warps differ in the shuffles that they do.
void block_sum(Out out) {
  ATTN_SHARED(float, of_warps, 4);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  float x = lane_sum(static_cast<float>(threadIdx.x));
  for (int i = 0; i < warp; ++i) x = lane_sum(x) / 32;
  if (threadIdx.x % 32 == 0) of_warps[warp] = x;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < 4; ++w) sum += of_warps[w];
  out.sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void no_barrier(Out) {
  ATTN_SHARED(float, own, 128);
  own[threadIdx.x] = 1.0f;
  static_cast<void>(static_cast<float>(own[127 - threadIdx.x]));
}

void written_too_early(Out) {
  ATTN_SHARED(float, one, 1);
  if (threadIdx.x == 0) one[0] = 1.0f;
  __syncthreads();
  if (threadIdx.x == 5) one[0] = 2.0f;
  static_cast<void>(static_cast<float>(one[0]));
}

void two_writers(Out) {
  ATTN_SHARED(float, one, 1);
  if (threadIdx.x % 32 == 0) one[0] = 1.0f;
}

void never_written(Out) {
  ATTN_SHARED(float, some, 128);
  if (threadIdx.x < 100) some[threadIdx.x] = 1.0f;
  __syncthreads();
  static_cast<void>(static_cast<float>(some[threadIdx.x]));
}

void outside(Out) {
  ATTN_SHARED(float, some, 127);
  some[threadIdx.x] = 1.0f;
}

void some_at_barrier(Out) {
  if (threadIdx.x < 96) __syncthreads();
}

void two_barriers(Out) {
  if (threadIdx.x < 64) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

void some_lanes(Out out) {
  if (threadIdx.x % 32 < 31) out.sums[threadIdx.x] = lane_sum(1.0f);
}

void lanes_apart(Out out) {
  for (unsigned i = 0; i < 1 + threadIdx.x % 2; ++i) out.sums[threadIdx.x] = lane_sum(1.0f);
}

std::string run(void (*body)(const void*), std::vector<float>& sums, unsigned blocks = 1) {
  sums.assign(blocks * 128, -1.0f);
  const Out out{sums.data()};
  return Scheduler(sums.size()).run(body, &out, blocks, 128);
}

template <void (*kKernel)(Out)>
std::string error_of() {
  std::vector<float> sums;
  return run(&Scheduler::body<Out, kKernel>, sums);
}

}  // namespace

TEST_CASE("the emulator runs blocks, barriers and shuffles") {
  std::vector<float> sums;
  CHECK(run(&Scheduler::body<Out, block_sum>, sums, 3).empty());
  CHECK(sums == std::vector<float>(3 * 128, 127 * 64.0f));
}

TEST_CASE("the emulator finds shared memory without barriers") {
  CHECK_THAT(error_of<no_barrier>(),
             contains("without a barrier") || contains("before it is written"));
  CHECK_THAT(error_of<written_too_early>(), contains("without a barrier"));
  CHECK_THAT(error_of<two_writers>(), contains("one[0] is written by two threads"));
  CHECK_THAT(error_of<never_written>(), contains("is read before it is written"));
  CHECK_THAT(error_of<outside>(), contains("some[127] is outside"));
}

TEST_CASE("the emulator finds barriers and shuffles that not all threads reach") {
  CHECK_THAT(error_of<some_at_barrier>(), contains("96 of 128 threads arrived"));
  CHECK_THAT(error_of<two_barriers>(), contains("by different lines"));
  CHECK_THAT(error_of<some_lanes>(), contains("31 of 32 lanes at a shuffle"));
  CHECK_THAT(error_of<lanes_apart>(), contains("16 of 32 lanes at a shuffle"));
}
