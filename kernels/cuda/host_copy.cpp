#include "kernels/cuda/host_copy.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <thread>

namespace attn {

HostCopy::HostCopy(const torch::Tensor& of) {
  if (of.is_cpu()) {
    copy_ = of.clone();
    return;
  }
  copy_ = of.to(torch::kCPU, /*non_blocking=*/true);  // to pinned memory
  copied_.emplace(of.device().type());
  copied_->record(c10::impl::VirtualGuardImpl(of.device().type()).getStream(of.device()));
}

const torch::Tensor& HostCopy::wait() {
  // LibTorch's events spin: where several runs share the cores, the threads that build their
  // batches come first.
  while (copied_ && !copied_->query()) std::this_thread::yield();
  return copy_;
}

}  // namespace attn
