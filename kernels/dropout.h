// Dropout whose mask is a pure function of a key and the element's index (counter-based): nothing
// is stored for backward, and a run that is resumed draws the masks it would have drawn.
#pragma once

#include <torch/torch.h>

#include "kernels/cpu/table.h"

namespace attn {

/// A fresh key from torch's default CPU generator, for dropout with probability `p`; without
/// dropout no key is drawn.
cpu::DropoutKey draw_dropout_key(double p);

/// Whether the CPU kernels take these tensors: float32, on a CPU, dense.
bool runs_on_cpu_kernels(const torch::Tensor& tensor);

/// x with each element zeroed with probability `p` and the others scaled by 1 / (1 - p); x itself
/// when p is 0. Off the CPU, LibTorch's dropout.
torch::Tensor fast_dropout(const torch::Tensor& x, double p);

}  // namespace attn
