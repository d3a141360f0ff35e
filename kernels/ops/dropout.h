// Dropout whose mask is a pure function of a key and the element's index (counter-based): nothing
// is stored for backward, and a run that is resumed draws the masks it would have drawn.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// A fresh key for dropout with probability `p`, from the seed of the thread's ComputeScope if it
/// has one, else from torch's default CPU generator; without dropout no key is drawn.
cpu::DropoutKey draw_dropout_key(double p);

/// Keeps a key from forward to backward.
void save_dropout_key(torch::autograd::AutogradContext& context, const cpu::DropoutKey& key);
cpu::DropoutKey saved_dropout_key(torch::autograd::AutogradContext& context);

/// Whether the CPU kernels take these tensors: float32, on a CPU, dense.
bool runs_on_cpu_kernels(const torch::Tensor& tensor);

/// x with each element zeroed with probability `p` and the others scaled by 1 / (1 - p); x itself
/// when p is 0. On the CPU computed in float32; elsewhere LibTorch's dropout with torch's
/// generator.
torch::Tensor fast_dropout(const torch::Tensor& x, double p);

}  // namespace attn
