// Exchanges GPU memory by NCCL, whose library is loaded at run time.
#pragma once

#include <functional>
#include <memory>

#include "kernels/libtorch.h"
#include "train/parallel/communicator.h"

namespace attn {

/// `world`, with exchanges of GPU memory by NCCL (libnccl.so.2, part of LibTorch with CUDA). All
/// processes must have a GPU of their own. Unless all have the library, returns `world` unchanged:
/// GPU memory is then copied to the host. `is_done`: whether the last exchange has ended, instead
/// of what the device's stream says, for tests without a GPU (tests/support/nccl_stub.cpp). Throws
/// CommunicationError. Not yet run on several GPUs.
std::unique_ptr<Communicator> with_nccl(std::unique_ptr<Communicator> world, torch::Device device,
                                        std::function<bool()> is_done = {});

}  // namespace attn
