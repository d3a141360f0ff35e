// Peak FLOP/s of matrix products on this machine.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/precision.h"

namespace attn {

/// FLOP/s of the fastest of several products of two square matrices, up to 2048 x 2048 (4096 x 4096
/// on a GPU), with torch's current number of threads, by LibTorch or on packed weights
/// (kernels/ops/linear.h). Takes a few seconds at most. Throws Stopped.
double matrix_product_peak(Precision precision, torch::Device device);

}  // namespace attn
