#include "kernels/cuda/launches.h"

#include <algorithm>
#include <bit>

namespace attn::cuda {
namespace {

int64_t blocks_of(int64_t items, int64_t of_block) {
  return (items + of_block - 1) / of_block;
}

template <class Arguments>
void queue_launch(const Queue& queue, std::string function, int64_t blocks, int threads,
                  Arguments& arguments) {
  if (blocks > 0)
    queue.launcher->launch({std::move(function), blocks, threads, &arguments}, queue.stream);
}

// Instances of norm.cu by parts of 128 numbers: 1, 2, 4 and 8.
std::string of_parts(const char* kernel, int32_t width) {
  const auto parts = static_cast<uint32_t>(blocks_of(width, kPartWidth));
  return kernel + std::to_string(std::bit_ceil(parts));
}

// Instances of loss.cu, the smallest first.
struct LossInstance {
  bool bf16;
  int threads, parts;
  int64_t classes() const { return int64_t{bf16 ? 8 : 4} * threads * parts; }
};
constexpr LossInstance kLossInstances[] = {{true, 256, 2},  {true, 512, 4},  {true, 1024, 5},
                                           {false, 256, 4}, {false, 512, 8}, {false, 1024, 10}};

const LossInstance* loss_instance(int64_t classes, bool bf16) {
  const auto* found = std::ranges::find_if(kLossInstances, [&](const LossInstance& instance) {
    return instance.bf16 == bf16 && classes <= instance.classes();
  });
  return found == std::end(kLossInstances) ? nullptr : found;
}

}  // namespace

void drop_elements(const Queue& queue, DropoutElements arguments) {
  queue_launch(queue, "dropout_elements", blocks_of(arguments.count, 4 * kDropoutThreads),
               kDropoutThreads, arguments);
}

bool norm_supports(int64_t width) {
  return width > 0 && width % 4 == 0 && width <= 8 * kPartWidth;
}

void norm_forward(const Queue& queue, NormForward arguments) {
  queue_launch(queue, of_parts("norm_forward_", arguments.width),
               blocks_of(arguments.rows, kNormRows), kNormRows * kWarpThreads, arguments);
}

int64_t norm_partial_rows(int64_t rows) {
  return blocks_of(rows, kNormBackwardRows);
}

void norm_backward(const Queue& queue, NormBackward arguments) {
  const bool beside = arguments.d_residual.data != nullptr;
  queue_launch(queue,
               of_parts(beside ? "norm_beside_backward_" : "norm_backward_", arguments.width),
               norm_partial_rows(arguments.rows), kNormBackwardWarps * kWarpThreads, arguments);
}

bool loss_supports(int64_t classes, bool bf16) {
  return classes > 0 && loss_instance(classes, bf16) != nullptr;
}

int64_t loss_stride(int64_t classes) {
  // Whole groups of 16 bytes in both types, and what the products' kernels are fastest with.
  return blocks_of(classes, 64) * 64;
}

void smoothed_loss(const Queue& queue, LossRows arguments, bool bf16) {
  const LossInstance& instance = *loss_instance(arguments.classes, bf16);
  queue_launch(queue,
               std::string("smoothed_loss_") + (bf16 ? "bf16_" : "fp32_") +
                   std::to_string(instance.threads) + "_" + std::to_string(instance.parts),
               arguments.rows, instance.threads, arguments);
}

bool embedding_supports(int64_t width) {
  return width > 0 && width % 4 == 0;
}

void embedding_forward(const Queue& queue, EmbeddingForward arguments) {
  queue_launch(queue, "embedding_forward",
               blocks_of(arguments.rows, kEmbeddingThreads / kWarpThreads), kEmbeddingThreads,
               arguments);
}

int64_t embedding_partial_rows(int64_t rows) {
  return 2 * blocks_of(rows, kEmbeddingChunk);
}

void embedding_backward(const Queue& queue, EmbeddingBackward arguments) {
  const int64_t chunks = blocks_of(arguments.rows, kEmbeddingChunk);
  queue_launch(queue, "embedding_backward", chunks, kEmbeddingThreads, arguments);
  queue_launch(queue, "embedding_backward_join", chunks, kEmbeddingThreads, arguments);
}

}  // namespace attn::cuda
