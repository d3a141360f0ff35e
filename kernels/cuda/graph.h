// CUDA graphs: what a GPU repeats is launched as a whole, instead of kernel by kernel.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "kernels/libtorch.h"

namespace attn {

/// Work that was captured.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Launches it on the current stream.
  virtual void replay() = 0;
};

/// Records what `work` launches on the current stream, a SideStream's, which is not run. Memory
/// that it allocates is that of graphs, which are replayed one at a time. Throws what the work
/// threw, and c10::Error if it cannot be captured; then no other capture should be tried.
using Capture = std::function<std::unique_ptr<Graph>(const std::function<void()>& work)>;

/// That of a GPU; null elsewhere, and if the build found no headers of CUDA
/// (kernels/CMakeLists.txt).
Capture cuda_capture(torch::Device device);

/// While it exists, this thread's work is being captured: what sends to a GPU, or reads from it,
/// would do so once, not with each replay, and throws (to_device; LibTorch for the latter).
class Capturing {
 public:
  Capturing();
  ~Capturing();
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;
  static bool active();
};

/// While it exists, this thread's work for a GPU runs on one stream of this process: after all that
/// was queued before, and before all that is queued later. Graphs cannot be captured on the default
/// stream, and what they share with other work must be of their stream. Nothing on a CPU.
class SideStream {
 public:
  explicit SideStream(torch::Device device);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

 private:
  std::optional<c10::Stream> before_;
};

}  // namespace attn
