#include "kernels/compute_scope.h"

#include <ATen/autocast_mode.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "kernels/cpu/instructions.h"
#include "kernels/cpu/tiles.h"

namespace attn {
namespace {

thread_local ComputeScope* innermost = nullptr;

bool cpu_path_by_environment() {
  const char* name = std::getenv("ATTN_DEVICE_PATH");
  const std::string_view path = name == nullptr ? "" : name;
  require(path.empty() || path == "cpu" || path == "gpu", "ATTN_DEVICE_PATH", path,
          "expected cpu or gpu");
  return path != "gpu";
}

std::atomic<bool>& cpu_path() {
  static std::atomic<bool> used = cpu_path_by_environment();
  return used;
}

}  // namespace

bool on_cpu_path(torch::Device device) {
  return device.is_cpu() && cpu_path();
}

void use_cpu_path(bool use) {
  cpu_path() = use;
}

bool has_packed_products(Precision precision) {
  return precision == Precision::bf16 ? cpu::tile_kernels() != nullptr
                                      : cpu::chosen_products() == cpu::Products::panels;
}

ComputeScope::ComputeScope(const Options& options)
    : outer_(innermost),
      precision_(options.precision),
      residual_(options.residual),
      device_(options.device),
      kernels_(options.kernels.value_or(kernels_in_use() != Kernels::off)),
      device_seed_(options.device_seed),
      outer_autocast_(at::autocast::is_autocast_enabled(device_.type())),
      outer_autocast_type_(at::autocast::get_autocast_dtype(device_.type())) {
  if (options.dropout_seed) random_.emplace(*options.dropout_seed);
  const bool bf16 = options.precision == Precision::bf16;
  const bool packed = on_cpu_path(device_) && has_packed_products(options.precision) && kernels_ &&
                      follows_formulas(FastPath::linear);
  const bool tiles = bf16 && packed;
  TORCH_CHECK(!tiles || options.packed_weights != nullptr,
              "ComputeScope: bf16 tiles require packed_weights");
  if (packed) packed_weights_ = options.packed_weights;
  if (bf16 && kernels_ && !on_cpu_path(device_)) copied_weights_ = options.packed_weights;
  set_autocast(bf16 && !tiles, bf16 && !tiles ? at::kBFloat16 : outer_autocast_type_);
  innermost = this;
}

ComputeScope::~ComputeScope() {
  innermost = outer_;
  set_autocast(outer_autocast_, outer_autocast_type_);
}

void ComputeScope::set_autocast(bool enabled, torch::ScalarType type) const {
  const c10::DeviceType device = device_.type();
  // Autocast caches the converted weights while it is enabled.
  if (at::autocast::is_autocast_enabled(device) && !enabled) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, type);
}

ComputeScope::Options ComputeScope::as_read() {
  if (innermost == nullptr) return {.kernels = false};
  return {.precision = innermost->precision_,
          .residual = innermost->residual_,
          .device = innermost->device_,
          .kernels = false};
}

bool ComputeScope::takes(FastPath path) {
  const bool kernels = innermost ? innermost->kernels_ : kernels_in_use() != Kernels::off;
  return follows_formulas(path) && kernels;  // edits are recorded without kernels, too
}

PackedWeights* ComputeScope::packed_weights() {
  return innermost ? innermost->packed_weights_ : nullptr;
}

PackedWeights* ComputeScope::copied_weights() {
  return innermost ? innermost->copied_weights_ : nullptr;
}

Random* ComputeScope::dropout() {
  return innermost && innermost->random_ ? &*innermost->random_ : nullptr;
}

torch::Tensor ComputeScope::device_seed() {
  return innermost ? innermost->device_seed_ : torch::Tensor();
}

std::optional<torch::ScalarType> ComputeScope::residual_type() {
  if (innermost == nullptr || innermost->residual_ == Precision::fp32) return {};
  return torch::kBFloat16;
}

std::optional<torch::ScalarType> ComputeScope::autocast_type(torch::Device device) {
  if (!at::autocast::is_autocast_enabled(device.type())) return {};
  return at::autocast::get_autocast_dtype(device.type());
}

}  // namespace attn
