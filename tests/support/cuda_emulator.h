// Runs kernels in CUDA C++ on a CPU, for tests: a source of kernels/cuda is included after this
// header and compiled as C++. The threads of a block are fibers; blocks, warps and the threads of a
// warp take turns in random order.
//
// Beyond wrong results it finds: barriers at which not all threads of the block arrive, or that
// they reach by different lines; shuffles at which not all lanes of the warp arrive, or not with
// the same number of shuffles behind them; shared memory that is read before it is written in this
// block, outside its bounds, or, without a barrier in between, by another thread than wrote it. It
// finds no races in the device's memory and no limits of registers.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace attn::testing::emulator {

constexpr unsigned kLanes = 32;
constexpr size_t kStack = size_t{1} << 17;

struct Index {
  unsigned x = 0;
};

enum class State { ready, at_barrier, at_shuffle, ended };

struct Fiber {
  ucontext_t context;
  State state = State::ready;
  int line = 0;           // where it waits
  unsigned distance = 0;  // of its shuffle
  unsigned shuffles = 0;  // behind it
  uint32_t mail = 0;      // what it gives to a shuffle, then what it gets
};

/// The block that runs; there is one at a time.
struct Block {
  std::vector<Fiber> fibers;
  unsigned current = 0;
  uint64_t number = 0;  ///< of all blocks of the process, from 1 on
  uint64_t epoch = 0;   ///< barriers passed
  std::string error;    ///< the first; empty: none
  ucontext_t home;
  void (*body)(const void*) = nullptr;
  const void* argument = nullptr;
  std::unique_ptr<char[]> stacks;
};
inline Block block;
inline Index thread_index, block_index, block_size, grid_size;

// Address sanitizer is told which stack is in use.
#if defined(__SANITIZE_ADDRESS__)
inline const void* home_bottom = nullptr;
inline size_t home_size = 0;

inline void finish_switch(void* own, bool from_home) {
  const void* bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(own, &bottom, &size);
  if (from_home) {
    home_bottom = bottom;
    home_size = size;
  }
}
#endif

inline void switch_fiber(ucontext_t& from, ucontext_t& to, [[maybe_unused]] bool to_home) {
#if defined(__SANITIZE_ADDRESS__)
  const bool ends = to_home && block.fibers[block.current].state == State::ended;
  const char* stack = block.stacks.get() + block.current * kStack;
  void* own = nullptr;
  __sanitizer_start_switch_fiber(ends ? nullptr : &own, to_home ? home_bottom : stack,
                                 to_home ? home_size : kStack);
#endif
  swapcontext(&from, &to);
#if defined(__SANITIZE_ADDRESS__)
  finish_switch(own, to_home);
#endif
}

inline void to_scheduler() {
  Fiber& own = block.fibers[block.current];
  switch_fiber(own.context, block.home, true);
}

/// Ends the launch: no fiber is resumed, nor is anything on its stack destroyed.
inline void fail(const char* place, int64_t number, const char* what) {
  char text[200];
  std::snprintf(text, sizeof text, "%s[%lld] %s", place, static_cast<long long>(number), what);
  if (block.error.empty()) block.error = text;
  block.fibers[block.current].state = State::ended;
  to_scheduler();
  std::abort();
}

inline void wait_as(State state, int line) {
  Fiber& own = block.fibers[block.current];
  own.state = state;
  own.line = line;
  to_scheduler();
}

inline float shuffle_xor(uint32_t mask, float value, int distance, int line) {
  Fiber& own = block.fibers[block.current];
  if (mask != ~uint32_t{0}) fail("line", line, "has a shuffle of some lanes");
  if (distance <= 0 || distance >= static_cast<int>(kLanes)) {
    fail("line", line, "has a shuffle out of the warp");
  }
  std::memcpy(&own.mail, &value, sizeof own.mail);
  own.distance = static_cast<unsigned>(distance);
  wait_as(State::at_shuffle, line);
  std::memcpy(&value, &own.mail, sizeof value);
  return value;
}

/// An array in shared memory.
template <class T, size_t kSize>
class Shared {
 public:
  class Element {
   public:
    Element(Shared& of, size_t index) : of_(of), index_(index) {}
    operator T() const {  // NOLINT: as an element of an array
      Cell& cell = of_.cells_[index_];
      if (cell.block != block.number) of_.fail_at(index_, "is read before it is written");
      if (cell.written == block.epoch && cell.writer != block.current) {
        of_.fail_at(index_, "is read without a barrier after another thread's write");
      }
      cell.reader =
          cell.read == block.epoch && cell.reader != block.current ? kSeveral : block.current;
      cell.read = block.epoch;
      return cell.value;
    }
    Element& operator=(T value) {
      Cell& cell = of_.cells_[index_];
      if (cell.block != block.number) cell = {};
      if (cell.written == block.epoch && cell.writer != block.current) {
        of_.fail_at(index_, "is written by two threads without a barrier in between");
      }
      if (cell.read == block.epoch && cell.reader != block.current) {
        of_.fail_at(index_, "is written without a barrier after another thread's read");
      }
      cell.value = value;
      cell.block = block.number;
      cell.written = block.epoch;
      cell.writer = block.current;
      return *this;
    }

   private:
    Shared& of_;
    size_t index_;
  };

  explicit Shared(const char* name) : name_(name) {}
  Element operator[](int64_t index) {
    if (index < 0 || index >= static_cast<int64_t>(kSize)) fail_at(index, "is outside");
    return {*this, static_cast<size_t>(index)};
  }

 private:
  static constexpr unsigned kSeveral = ~0u;
  static constexpr uint64_t kNever = ~uint64_t{0};
  struct Cell {
    T value = {};
    uint64_t block = 0, written = kNever, read = kNever;
    unsigned writer = 0, reader = 0;
  };
  void fail_at(size_t index, const char* what) { fail(name_, static_cast<int64_t>(index), what); }
  const char* name_;
  Cell cells_[kSize];
};

class Scheduler {
 public:
  explicit Scheduler(uint64_t seed) : random_(seed * 2 + 1) {}

  template <class Arguments, void (*kKernel)(Arguments)>
  static void body(const void* argument) {
    kKernel(*static_cast<const Arguments*>(argument));
  }

  /// Empty, or what went wrong.
  std::string run(void (*kernel)(const void*), const void* argument, unsigned blocks,
                  unsigned threads) {
    if (threads % kLanes != 0 || threads > 1024) return "a block of " + std::to_string(threads);
    block.body = kernel;
    block.argument = argument;
    block.error.clear();
    block.fibers.resize(threads);
    if (!block.stacks) block.stacks = std::make_unique<char[]>(1024 * kStack);
    block_size = {threads};
    grid_size = {blocks};
    for (const unsigned b : shuffled(blocks)) {
      block_index = {b};
      run_block();
      if (!block.error.empty()) return "block " + std::to_string(b) + ": " + block.error;
    }
    return "";
  }

 private:
  static void entry() {
#if defined(__SANITIZE_ADDRESS__)
    finish_switch(nullptr, true);
#endif
    block.body(block.argument);
    block.fibers[block.current].state = State::ended;
    to_scheduler();
  }

  // Apart, since getcontext returns twice for all that a compiler knows.
  static void start(Fiber& fiber, char* stack) {
    fiber = {};
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Scheduler::entry, 0);
  }

  void run_block() {
    ++block.number;
    block.epoch = 0;
    for (size_t t = 0; t < block.fibers.size(); ++t) {
      start(block.fibers[t], block.stacks.get() + t * kStack);
    }
    const auto warps = static_cast<unsigned>(block.fibers.size()) / kLanes;
    while (block.error.empty()) {
      std::vector<unsigned> ready;
      for (unsigned warp = 0; warp < warps; ++warp) {
        if (count(warp * kLanes, kLanes, State::ready) > 0) ready.push_back(warp);
      }
      if (!ready.empty()) {
        run_warp(ready[next() % ready.size()]);
      } else if (count(0, block.fibers.size(), State::at_barrier) == 0) {
        return;  // all have ended
      } else {
        pass_barrier();
      }
    }
  }

  size_t count(size_t first, size_t size, State state) const {
    size_t found = 0;
    for (size_t t = first; t < first + size; ++t) found += block.fibers[t].state == state ? 1 : 0;
    return found;
  }

  // Its threads to their next barrier, shuffle or end, then the shuffle.
  void run_warp(unsigned warp) {
    const size_t first = size_t{warp} * kLanes;
    for (const unsigned lane : shuffled(kLanes)) {
      if (block.fibers[first + lane].state != State::ready) continue;
      block.current = static_cast<unsigned>(first) + lane;
      thread_index = {block.current};
      switch_fiber(block.home, block.fibers[block.current].context, false);
      if (!block.error.empty()) return;
    }
    const size_t shuffling = count(first, kLanes, State::at_shuffle);
    if (shuffling == 0) return;
    Fiber* lanes = &block.fibers[first];
    uint32_t given[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (shuffling != kLanes || lanes[lane].line != lanes[0].line ||
          lanes[lane].shuffles != lanes[0].shuffles || lanes[lane].distance != lanes[0].distance) {
        block.error = "warp " + std::to_string(warp) + ": " + std::to_string(shuffling) +
                      " of 32 lanes at a shuffle, or at different ones";
        return;
      }
      given[lane] = lanes[lane].mail;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      lanes[lane].mail = given[(lane ^ lanes[lane].distance) % kLanes];
      ++lanes[lane].shuffles;
      lanes[lane].state = State::ready;
    }
  }

  void pass_barrier() {
    const size_t arrived = count(0, block.fibers.size(), State::at_barrier);
    const int line = block.fibers[0].line;
    bool same = arrived == block.fibers.size();
    for (const Fiber& fiber : block.fibers) same = same && fiber.line == line;
    if (!same) {
      block.error = "a barrier at which " + std::to_string(arrived) + " of " +
                    std::to_string(block.fibers.size()) + " threads arrived, or by different lines";
      return;
    }
    ++block.epoch;
    for (Fiber& fiber : block.fibers) fiber.state = State::ready;
  }

  std::vector<unsigned> shuffled(unsigned n) {
    std::vector<unsigned> order(n);
    for (unsigned i = 0; i < n; ++i) order[i] = i;
    for (unsigned i = n; i > 1; --i) std::swap(order[i - 1], order[next() % i]);
    return order;
  }

  uint32_t next() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(random_ >> 33);
  }

  uint64_t random_;
};

// Lower half first, to nearest even.
inline uint32_t rounded_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) return 0x7fff;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

}  // namespace attn::testing::emulator

// What CUDA C++ has and C++ has not.
struct alignas(8) uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline uint2 make_uint2(uint32_t x, uint32_t y) {
  return {x, y};
}
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  return {x, y, z, w};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline float __uint_as_float(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline float rsqrtf(float x) {
  return 1.0f / std::sqrt(x);
}
inline float __expf(float x) {
  return std::exp(x);
}
namespace attn::cuda {
inline uint32_t packed_bf16(float first, float second) {
  return testing::emulator::rounded_bf16(first) | testing::emulator::rounded_bf16(second) << 16;
}
}  // namespace attn::cuda

#define __global__
#define __device__
#define __launch_bounds__(threads)
#define threadIdx attn::testing::emulator::thread_index
#define blockIdx attn::testing::emulator::block_index
#define blockDim attn::testing::emulator::block_size
#define gridDim attn::testing::emulator::grid_size
#define __syncthreads() \
  attn::testing::emulator::wait_as(attn::testing::emulator::State::at_barrier, __LINE__)
#define __shfl_xor_sync(mask, value, distance) \
  attn::testing::emulator::shuffle_xor(mask, value, distance, __LINE__)
#define ATTN_SHARED(type, name, size) static attn::testing::emulator::Shared<type, size> name(#name)
