// Exchanges GPU memory by NCCL, whose library is loaded at run time.
#pragma once

#include <memory>

#include "kernels/libtorch.h"
#include "train/parallel/communicator.h"

namespace attn {

/// Whether NCCL can be used: libnccl.so.2, part of LibTorch with CUDA, was found.
bool has_nccl();

/// `world`, with exchanges of GPU memory by NCCL, which the first one connects. All processes must
/// have NCCL, and a GPU of their own. Not yet run on several GPUs.
std::unique_ptr<Communicator> with_nccl(std::unique_ptr<Communicator> world, torch::Device device);

}  // namespace attn
