// The most that this machine gives in matrix products: what training's speed is a share of.
#pragma once

#include "kernels/libtorch.h"
#include "train/config.h"

namespace attn {

/// Floating-point operations a second in the best of some products of two 2048² matrices on the
/// device, with the threads that torch has now; takes some tenths of a second.
double matrix_product_peak(Precision precision, torch::Device device);

}  // namespace attn
