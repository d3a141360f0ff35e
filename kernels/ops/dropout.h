// Counter-based dropout: the mask is a pure function of a key and the element's index. Nothing is
// stored for backward, and a resumed run draws the same masks.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// A new key for dropout with probability `p`, from the generator of the thread's ComputeScope,
/// else from torch's default CPU generator; none is drawn for p = 0.
cpu::DropoutKey draw_dropout_key(double p);

/// Saves a key for backward.
void save_dropout_key(torch::autograd::AutogradContext& context, const cpu::DropoutKey& key);
cpu::DropoutKey saved_dropout_key(torch::autograd::AutogradContext& context);

/// Whether the CPU kernels support the tensor: float32, on a CPU, dense.
bool runs_on_cpu_kernels(const torch::Tensor& tensor);

/// Inverted dropout with probability `p`; x itself for p = 0. Float32 kernel on a CPU, else
/// LibTorch's dropout.
torch::Tensor fast_dropout(const torch::Tensor& x, double p);

}  // namespace attn
