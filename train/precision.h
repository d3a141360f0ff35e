// Mixed precision (see kernels/compute_scope.h).
#pragma once

#include "kernels/libtorch.h"
#include "kernels/precision.h"

namespace attn {

/// The precision used on `device`: fp32 on CPUs without bf16 instructions, where emulation is slow.
Precision effective_precision(Precision asked, torch::Device device);

}  // namespace attn
