// GPU memory over NCCL, whose library is looked for when the program runs.
#pragma once

#include <memory>

#include "kernels/libtorch.h"
#include "train/parallel/communicator.h"

namespace attn {

/// `world`, with exchanges of GPU memory by NCCL (libnccl.so.2, as LibTorch with CUDA brings it).
/// All processes must have a GPU of their own. Without the library in all of them, `world` as it
/// is: then GPU memory is copied to the host. Throws CommunicationError. Untested: no test has run
/// on a GPU.
std::unique_ptr<Communicator> with_nccl(std::unique_ptr<Communicator> world, torch::Device device);

}  // namespace attn
