#include "kernels/cuda/graph.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

// The only use of CUDA's own headers.
#ifdef ATTN_CUDA_GRAPHS
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#endif

namespace attn {
namespace {

thread_local bool capturing = false;

// What is queued on `next` from now on waits for what is on `first`.
void order(const c10::Stream& first, const c10::Stream& next) {
  c10::Event event(first.device_type());
  event.record(first);
  event.block(next);
}

#ifdef ATTN_CUDA_GRAPHS

class CudaGraph : public Graph {
 public:
  void replay() override { graph.replay(); }
  at::cuda::CUDAGraph graph;
};

// `pool`: the memory of all graphs of one trainer. Once its last graph is gone, LibTorch refuses to
// capture into it.
std::unique_ptr<Graph> capture(c10::MempoolId_t pool, const std::function<void()>& work) {
  // The pool cannot take what the cache holds, nor free it during a capture.
  c10::cuda::CUDACachingAllocator::emptyCache();
  auto captured = std::make_unique<CudaGraph>();
  // Backward runs on a thread of autograd, whose launches are captured by their stream.
  captured->graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  bool ending = false;
  try {
    work();
    ending = true;
    captured->graph.capture_end();
    return captured;
  } catch (...) {
    // Up to LibTorch 2.15 at least, a failed capture leaves the stream in it and the allocator in
    // the pool (pytorch issue 180395). The graph is leaked: its destructor would fail, too.
    at::cuda::CUDAGraph& failed = captured.release()->graph;
    try {
      if (!ending) failed.capture_end();  // twice would leave an error to the next launch
    } catch (const c10::Error&) {
    }
    try {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), pool);
    } catch (const c10::Error&) {  // capture_end() did
    }
    c10::cuda::CUDACachingAllocator::releasePool(c10::cuda::current_device(), pool);
    // Before LibTorch 2.13 the generator still takes itself for captured, and eager dropout fails.
    at::Generator own = at::cuda::detail::getDefaultCUDAGenerator();
    own.graphsafe_set_state(at::cuda::detail::createCUDAGenerator());
    throw;
  }
}

#endif

}  // namespace

Capture cuda_capture(torch::Device device) {
#ifdef ATTN_CUDA_GRAPHS
  if (device.is_cuda()) {
    return [pool = at::cuda::graph_pool_handle()](const std::function<void()>& work) {
      return capture(pool, work);
    };
  }
#endif
  return {};
}

Capturing::Capturing() {
  capturing = true;
}

Capturing::~Capturing() {
  capturing = false;
}

bool Capturing::active() {
  return capturing;
}

SideStream::SideStream(torch::Device device) {
  if (!device.is_cuda()) return;
  const c10::impl::VirtualGuardImpl guard(device.type());
  static const c10::Stream side = guard.getStreamFromGlobalPool(device, /*isHighPriority=*/false);
  before_ = guard.exchangeStream(side);
  order(*before_, side);
}

SideStream::~SideStream() {
  if (!before_) return;
  const c10::impl::VirtualGuardImpl guard(before_->device_type());
  try {
    order(guard.exchangeStream(*before_), *before_);
  } catch (const c10::Error&) {  // after a failed kernel all calls fail; its error is under way
  }
}

}  // namespace attn
