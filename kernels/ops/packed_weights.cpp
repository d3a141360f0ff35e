#include "kernels/ops/packed_weights.h"

#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_copy.h>

#include "kernels/cpu/tiles.h"
#include "kernels/ops/linear_products.h"

namespace attn {
namespace {

void add_pieces(const LinearProducts& products, const torch::Tensor& weight,
                const PackedWeight& operand, std::vector<PackingPiece>& pieces) {
  for (const bool forward : {true, false}) {
    const torch::Tensor& packed = forward ? operand.forward : operand.backward;
    if (!packed.defined()) continue;
    for (int64_t line = 0; line < packed.size(0); line += products.lines_of_piece) {
      pieces.push_back({&weight, &packed, forward, line});
    }
  }
}

void pack_all(const LinearProducts& products, const std::vector<PackingPiece>& pieces) {
  at::parallel_for(0, static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) products.pack(pieces[i]);
  });
}

}  // namespace

bool has_bf16_tiles() {
  return cpu::tile_kernels() != nullptr;
}

PackedWeights::PackedWeights(Precision precision, bool gradients)
    : precision_(precision), gradients_(gradients) {}

std::shared_ptr<const PackedWeight> PackedWeights::of(const torch::Tensor& weight) {
  TORCH_CHECK(weight.is_cpu() && weight.scalar_type() == torch::kFloat32 && weight.is_contiguous(),
              "packed products require contiguous float32 weights on a CPU");
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[weight.const_data_ptr()];
  if (!entry.operand || entry.weight.sizes() != weight.sizes()) {
    const LinearProducts& products = products_of(precision_);
    entry.weight = weight.detach();
    entry.operand = std::make_shared<PackedWeight>(products.operand_like(weight, gradients_));
    std::vector<PackingPiece> pieces;
    add_pieces(products, weight, *entry.operand, pieces);
    pack_all(products, pieces);
  }
  return entry.operand;
}

torch::Tensor PackedWeights::bf16_copy(at::TensorList parts) {
  std::vector<const void*> key;
  for (const torch::Tensor& part : parts) key.push_back(part.const_data_ptr());
  const std::lock_guard lock(mutex_);
  torch::Tensor& copy = copies_[key];
  if (copy.defined()) return copy;
  copy = torch::cat(parts).to(torch::kBFloat16);
  int64_t begin = 0;
  for (const torch::Tensor& part : parts) {
    copied_from_.push_back(part.detach());
    copied_to_.push_back(copy.narrow(0, begin, part.size(0)));
    begin += part.size(0);
  }
  return copy;
}

void PackedWeights::refresh() {
  if (!copied_to_.empty()) at::_foreach_copy_(copied_to_, copied_from_);
  const LinearProducts& products = products_of(precision_);
  std::vector<PackingPiece> pieces;
  for (const auto& [where, entry] : entries_) {
    add_pieces(products, entry.weight, *entry.operand, pieces);
  }
  pack_all(products, pieces);
}

}  // namespace attn
