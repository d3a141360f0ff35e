// Measurements of a device: the rate of its matrix products, and where an update's time goes.
#pragma once

#include <functional>
#include <string>

#include "kernels/libtorch.h"
#include "kernels/precision.h"

namespace attn {

/// Waits for a GPU; does nothing on a CPU.
void synchronize(torch::Device device);

/// FLOP/s of the fastest of several products of two square matrices, up to 2048 x 2048 (4096 x 4096
/// on a GPU), with torch's current number of threads, by LibTorch or on packed weights
/// (kernels/ops/linear.h). Takes a few seconds at most. Throws Stopped.
double matrix_product_peak(Precision precision, torch::Device device);

/// Runs some updates; a table of what takes the longest in them: a GPU's kernels and copies, or
/// operators without those that they call, each with its share and its mean of an update.
std::string trace_table(const std::function<void()>& update, torch::Device device);

}  // namespace attn
