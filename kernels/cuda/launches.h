// What starts the kernels of kernels/cuda/*.cu: the shape of a launch, and which instance of a
// kernel it takes.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cuda/arguments.h"

namespace attn::cuda {

/// A launch of a function of kernels/cuda/*.cu.
struct Launch {
  std::string function;
  int64_t blocks = 0;
  int threads = 0;  ///< of a block
  void* argument = nullptr;
};

/// Where kernels run: a GPU, or an emulator in tests.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Queues a launch on a stream of the GPU. Throws CudaError (library.h) if it is refused.
  virtual void launch(const Launch& launch, void* stream) const = 0;
};

/// A launcher and the stream of its device.
struct Queue {
  const Launcher* launcher;
  void* stream;
};

void drop_elements(const Queue& queue, DropoutElements arguments);

/// Whether there is an instance for rows of this many numbers.
bool norm_supports(int64_t width);
void norm_forward(const Queue& queue, NormForward arguments);
/// Rows of NormBackward::partial for each parameter.
int64_t norm_partial_rows(int64_t rows);
void norm_backward(const Queue& queue, NormBackward arguments);

bool loss_supports(int64_t classes, bool bf16);
/// Numbers from a row of logits to the next, for this many classes.
int64_t loss_stride(int64_t classes);
void smoothed_loss(const Queue& queue, LossRows arguments, bool bf16);

bool embedding_supports(int64_t width);
void embedding_forward(const Queue& queue, EmbeddingForward arguments);
/// Rows of EmbeddingBackward::partial.
int64_t embedding_partial_rows(int64_t rows);
void embedding_backward(const Queue& queue, EmbeddingBackward arguments);

}  // namespace attn::cuda
