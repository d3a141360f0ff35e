// The kernels of kernels/cuda as C++, in a library that tools/mutants.py replaces by others.
#include "tests/support/emulated_kernels.h"

#include <iterator>

#include "tests/support/cuda_emulator.h"
//
#include "kernels/cuda/dropout.cu"
#include "kernels/cuda/embedding.cu"
#include "kernels/cuda/loss.cu"
#include "kernels/cuda/norm.cu"

namespace {

using attn::testing::emulator::Scheduler;

struct Function {
  const char* name;
  void (*body)(const void*);
};

#define FUNCTION(name, arguments) \
  { #name, &Scheduler::body < attn::cuda::arguments, name> }
#define FOR_WIDTHS(name, arguments)                                                            \
  FUNCTION(name##_1, arguments), FUNCTION(name##_2, arguments), FUNCTION(name##_4, arguments), \
      FUNCTION(name##_8, arguments)
constexpr Function kFunctions[] = {FUNCTION(dropout_elements, DropoutElements),
                                   FOR_WIDTHS(norm_forward, NormForward),
                                   FOR_WIDTHS(norm_backward, NormBackward),
                                   FOR_WIDTHS(norm_beside_backward, NormBackward),
                                   FUNCTION(smoothed_loss_bf16_256_2, LossRows),
                                   FUNCTION(smoothed_loss_bf16_512_4, LossRows),
                                   FUNCTION(smoothed_loss_bf16_1024_5, LossRows),
                                   FUNCTION(smoothed_loss_fp32_256_4, LossRows),
                                   FUNCTION(smoothed_loss_fp32_512_8, LossRows),
                                   FUNCTION(smoothed_loss_fp32_1024_10, LossRows),
                                   FUNCTION(embedding_forward, EmbeddingForward),
                                   FUNCTION(embedding_backward, EmbeddingBackward),
                                   FUNCTION(embedding_backward_join, EmbeddingBackward)};

}  // namespace

const char* attn_emulated_launch(const char* function, unsigned blocks, unsigned threads,
                                 const void* argument, uint64_t seed) {
  static std::string error;
  error = std::string("no function ") + function;
  for (const Function& f : kFunctions) {
    if (std::strcmp(f.name, function) == 0) {
      error = Scheduler(seed).run(f.body, argument, blocks, threads);
    }
  }
  return error.c_str();
}

const char* const* attn_emulated_functions() {
  static const char* names[std::size(kFunctions) + 1] = {};
  for (size_t i = 0; i < std::size(kFunctions); ++i) names[i] = kFunctions[i].name;
  return names;
}

float attn_emulated_dropout_factor(const attn::cuda::Dropout* dropout, int64_t index) {
  return attn::cuda::DropoutMask(*dropout).factor(index);
}
