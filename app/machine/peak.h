// Peak FLOP/s of matrix products on this machine.
#pragma once

#include "kernels/libtorch.h"
#include "train/config.h"

namespace attn {

/// FLOP/s of the fastest of several products of two 2048² matrices, with torch's current threads;
/// takes some tenths of a second.
double matrix_product_peak(Precision precision, torch::Device device);

}  // namespace attn
