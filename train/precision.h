// Mixed precision; kernels/compute_scope.h switches it on.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/precision.h"

namespace attn {

/// What `asked` comes to on `device`: a CPU without instructions for bf16 would only emulate it,
/// many times slower, and stays with fp32.
Precision effective_precision(Precision asked, torch::Device device);

}  // namespace attn
