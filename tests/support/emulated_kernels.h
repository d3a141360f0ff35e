// Launches on the emulator of tests/support/cuda_emulator.h.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/cuda/launches.h"

/// Runs a function of kernels/cuda/*.cu on a CPU; returns what the emulator found, or "". Not
/// thread-safe. `seed`: of the order of threads.
extern "C" const char* attn_emulated_launch(const char* function, unsigned blocks, unsigned threads,
                                            const void* argument, uint64_t seed);
/// The names of all functions, then nullptr.
extern "C" const char* const* attn_emulated_functions();
/// The factor of an element by the kernels' dropout.
extern "C" float attn_emulated_dropout_factor(const attn::cuda::Dropout* dropout, int64_t index);

namespace attn::testing {

/// Throws std::runtime_error with what the emulator found. Each launch has another order of
/// threads.
class EmulatedLauncher : public cuda::Launcher {
 public:
  void launch(const cuda::Launch& launch, void* /*stream*/) const override {
    const std::string error =
        attn_emulated_launch(launch.function.c_str(), static_cast<unsigned>(launch.blocks),
                             static_cast<unsigned>(launch.threads), launch.argument, ++launches_);
    if (!error.empty()) throw std::runtime_error(launch.function + ": " + error);
  }
  uint64_t launches() const { return launches_; }

 private:
  mutable uint64_t launches_ = 0;
};

}  // namespace attn::testing
