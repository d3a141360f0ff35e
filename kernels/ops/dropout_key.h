// Keys of dropout: what its masks are a function of.
#pragma once

#include <cstdint>

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// A new key for dropout with probability `p`, from the generator of the thread's ComputeScope,
/// else from torch's default CPU generator; none is drawn for p = 0.
cpu::DropoutKey draw_dropout_key(double p);

/// A key's threshold and scale for probability `p` > 0.
cpu::DropoutKey dropout_rate(double p);
/// As the key of draw_dropout_key, before mix64: a GPU's kernels mix it (kernels/ops/gpu.h).
uint64_t draw_unmixed();

/// Saves a key for backward.
void save_dropout_key(torch::autograd::AutogradContext& context, const cpu::DropoutKey& key);
cpu::DropoutKey saved_dropout_key(torch::autograd::AutogradContext& context);

}  // namespace attn
