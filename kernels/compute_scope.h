// Thread-local compute state: whether fast paths are taken, precision of products, packed weights
// and the dropout generator.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "kernels/fast_path.h"
#include "kernels/libtorch.h"
#include "kernels/precision.h"

namespace attn {

class PackedWeights;

/// Whether what is on `device` is computed as on a CPU, by this project's kernels and on all
/// threads; otherwise by LibTorch's operations, as on a GPU. The environment variable
/// ATTN_DEVICE_PATH=gpu sends a CPU's tensors there, too, so that everything but the GPU itself is
/// tested without one. Throws ConfigError for another value of the variable.
bool on_cpu_path(torch::Device device);
inline bool on_cpu_path(const torch::Tensor& x) {
  return on_cpu_path(x.device());
}
/// What on_cpu_path() returns for a CPU from now on, for tests.
void use_cpu_path(bool use);

/// Whether this process computes products of `precision` itself rather than with LibTorch: bf16 on
/// processors with tiles, fp32 where panels are faster than LibTorch's products
/// (cpu::chosen_products).
bool has_packed_products(Precision precision);

/// RAII guard that sets the compute state of this thread; training and search open one around a
/// model's forward pass. An inner scope replaces the outer one entirely until it ends. Without a
/// scope: float32, and dropout from torch's default CPU generator.
class ComputeScope {
 public:
  struct Options {
    /// Precision of matrix products; sums, norms, softmax and weights stay float32. bf16 uses bf16
    /// tiles (AMX or AVX-512 BF16) if the CPU supports them, else LibTorch's autocast, which CPUs
    /// without bf16 instructions only emulate (train/batch_gradient.h).
    Precision precision = Precision::fp32;
    /// Data type of the Transformer's residual stream (model/transformer/sublayer.h).
    Precision residual = Precision::fp32;
    torch::Device device = torch::kCPU;
    /// Whether fast paths may be taken; false: everything is computed as it is read in model/ and
    /// train/. Unset: unless kernels_in_use() is off.
    std::optional<bool> kernels = {};
    /// Weights packed for products of this precision (kernels/ops/linear.h), which then replace
    /// LibTorch's; must outlive the scope. Ignored where has_packed_products() is false, and where
    /// FastPath::linear is not taken. On a GPU its copies in bf16 are for FastPath::gpu_linear.
    PackedWeights* packed_weights = nullptr;
    /// Seed of the dropout masks, per thread for reproducibility. Without it they come from torch's
    /// default CPU generator, which all threads share. On a GPU dropout uses LibTorch's generator,
    /// unless runtime.gpu_kernels is on: then a GPU's masks are those of one thread of a CPU.
    std::optional<uint64_t> dropout_seed = {};
    /// int64 on the device, added to dropout_seed by a GPU's kernels (kernels/cuda) when they run,
    /// so that a CUDA graph draws other masks for each seed that is put there. Undefined: 0.
    torch::Tensor device_seed = {};
  };

  /// Those of this thread's innermost scope without fast paths, packed weights and dropout.
  static Options as_read();

  explicit ComputeScope(const Options& options);
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;

  /// The one switch of all fast paths: whether this thread takes this one.
  static bool takes(FastPath path);
  /// The same for one that is a kernel of the CPU: also whether x is computed there.
  static bool takes(FastPath path, const torch::Tensor& x) { return on_cpu_path(x) && takes(path); }
  /// Packed weights of this thread's innermost scope; null if products are LibTorch's.
  static PackedWeights* packed_weights();
  /// Those of whose copies in bf16 a GPU's products may be; null: of none.
  static PackedWeights* copied_weights();
  /// Dropout generator of this thread's innermost scope; null for torch's.
  static Random* dropout();
  /// Options::device_seed of this thread's innermost scope.
  static torch::Tensor device_seed();
  /// The type of the residual stream, unless it is float32.
  static std::optional<torch::ScalarType> residual_type();
  /// The autocast type on `device`, if autocast is enabled.
  static std::optional<torch::ScalarType> autocast_type(torch::Device device);

 private:
  void set_autocast(bool enabled, torch::ScalarType type) const;

  ComputeScope* outer_;
  Precision precision_, residual_;
  torch::Device device_;
  bool kernels_;
  PackedWeights* packed_weights_ = nullptr;
  PackedWeights* copied_weights_ = nullptr;
  std::optional<Random> random_;
  torch::Tensor device_seed_;
  bool outer_autocast_;
  torch::ScalarType outer_autocast_type_;
};

}  // namespace attn
