// Reading from a GPU without holding up what is queued after.
#pragma once

#include <c10/core/Event.h>

#include <optional>

#include "kernels/libtorch.h"

namespace attn {

/// A tensor's values of now, on the host: what is queued while they are copied need not wait for
/// the host, nor the host for it.
class HostCopy {
 public:
  explicit HostCopy(const torch::Tensor& of);
  /// Waits for the copy alone.
  const torch::Tensor& wait();

 private:
  torch::Tensor copy_;
  std::optional<c10::Event> copied_;
};

}  // namespace attn
