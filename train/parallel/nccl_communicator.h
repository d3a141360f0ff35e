// Exchanges GPU memory by NCCL, whose library is loaded at run time.
#pragma once

#include <memory>

#include "kernels/libtorch.h"
#include "train/parallel/communicator.h"

namespace attn {

/// `world`, with exchanges of GPU memory by NCCL (libnccl.so.2, part of LibTorch with CUDA). All
/// processes must have a GPU of their own. Unless all have the library, returns `world` unchanged:
/// GPU memory is then copied to the host. Throws CommunicationError. Untested: no test has run on
/// several GPUs.
std::unique_ptr<Communicator> with_nccl(std::unique_ptr<Communicator> world, torch::Device device);

}  // namespace attn
