// What operations by a GPU's kernels (kernels/cuda) share. Internal to kernels/.
#pragma once

#include <optional>

#include "kernels/compute_scope.h"
#include "kernels/cuda/launches.h"
#include "kernels/libtorch.h"

namespace attn::gpu {

/// Whether there are GPU kernels where x is, for its type: float32 or bf16.
bool has_kernels(const torch::Tensor& x);
/// Where the kernels of a fast path for x run, if it is taken: on x's GPU if the kernels are on
/// (runtime.gpu_kernels), or where a test runs those of a CPU's GPU path.
std::optional<cuda::Queue> queue_for(FastPath path, const torch::Tensor& x);
/// For gradients: as their forward pass, which was taken.
cuda::Queue queue_of(const torch::Tensor& x);

/// x as kernels read it: contiguous float32 or bf16 from a multiple of 16 bytes on.
torch::Tensor dense(const torch::Tensor& x);
/// Of a dense tensor.
cuda::Numbers numbers(const torch::Tensor& x);
float* floats(const torch::Tensor& x);

/// A key of dropout: that of draw_dropout_key (kernels/ops/dropout.h) under the same seed.
struct Dropout {
  cuda::Dropout key;
  torch::Tensor seed;  ///< keeps key.seed
};
/// The next key of this thread's ComputeScope; none is drawn for p = 0.
Dropout draw_dropout(double p);
void save_dropout(torch::autograd::AutogradContext& context, const Dropout& dropout);
Dropout saved_dropout(torch::autograd::AutogradContext& context);

/// Inverted dropout of x, in its type. Differentiable.
torch::Tensor dropout(const torch::Tensor& x, double p);
/// x with the factors of a key, plus `added` if it is defined, as `type`; without a gradient.
torch::Tensor dropped(const torch::Tensor& x, const Dropout& dropout, torch::ScalarType type,
                      const torch::Tensor& added = {});

}  // namespace attn::gpu
