#include "train/parallel/gradient_sum.h"

#include <ATen/Parallel.h>

#include <array>

#include "kernels/compute_scope.h"

namespace attn {
namespace {

Bytes memory_of(const torch::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

torch::Tensor part(const torch::Tensor& flat, FlatRange range) {
  return flat.narrow(0, range.begin, range.size());
}

// Undefined tensors are empty messages.
void exchange(Communicator& world, const std::vector<torch::Tensor>& to,
              const std::vector<torch::Tensor>& from, MessageMemory memory = MessageMemory::host) {
  const auto messages = [](const std::vector<torch::Tensor>& tensors) {
    std::vector<Bytes> all;
    for (const auto& tensor : tensors)
      all.push_back(tensor.defined() ? memory_of(tensor) : Bytes());
    return all;
  };
  const std::vector<Bytes> sent = messages(to);
  world.exchange(std::vector<ConstBytes>(sent.begin(), sent.end()), messages(from), memory);
}

// The sum of the squares of up to kNormBlock floats, in 16 partial sums that fit vector registers.
double squares(const float* values, int64_t count) {
  constexpr int64_t kLanes = 16;
  std::array<float, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += values[i + lane] * values[i + lane];
    }
  }
  double sum = 0.0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

}  // namespace

torch::Tensor GradientSum::reachable(const torch::Tensor& flat) const {
  return memory_ == MessageMemory::device ? flat : flat.cpu();
}

void GradientSum::reduce(const torch::Tensor& gradients) {
  if (world_.size() == 1) return;
  const torch::NoGradGuard no_grad;
  const int64_t rank = world_.rank(), size = world_.size();
  const torch::Tensor buffer = reachable(gradients);
  if (!received_.defined()) received_ = torch::empty({size, own().size()}, buffer.options());
  std::vector<torch::Tensor> to(size), from(size), parts(size);
  for (int64_t r = 0; r < size; ++r) {
    parts[r] = r == rank ? part(buffer, own()) : received_[r];
    if (r == rank) continue;
    to[r] = part(buffer, shard(r));
    from[r] = parts[r];
  }
  exchange(world_, to, from, memory_);
  tree_sum(size, [&](int64_t i, int64_t j) { parts[i].add_(parts[j]); });
  if (!parts[0].is_alias_of(gradients)) part(gradients, own()).copy_(parts[0]);
}

void GradientSum::gather(const torch::Tensor& flat) {
  if (world_.size() == 1) return;
  const torch::NoGradGuard no_grad;
  const torch::Tensor buffer = reachable(flat);
  std::vector<torch::Tensor> to(world_.size()), from(world_.size());
  for (int64_t r = 0; r < world_.size(); ++r) {
    if (r == world_.rank()) continue;
    to[r] = part(buffer, own());
    from[r] = part(buffer, shard(r));
  }
  exchange(world_, to, from, memory_);
  if (!buffer.is_same(flat)) flat.copy_(buffer);
}

torch::Tensor block_squares(const torch::Tensor& flat) {
  const torch::NoGradGuard no_grad;
  if (!on_cpu_path(flat)) return flat.norm().to(torch::kFloat64).square().view({1});
  const int64_t floats = flat.numel(), blocks = (floats + kNormBlock - 1) / kNormBlock;
  torch::Tensor sums = torch::empty({blocks}, torch::kFloat64);
  const float* values = flat.const_data_ptr<float>();
  double* out = sums.data_ptr<double>();
  at::parallel_for(0, blocks, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kNormBlock;
      out[i] = squares(values + first, std::min(kNormBlock, floats - first));
    }
  });
  return sums;
}

void broadcast(Communicator& world, const torch::Tensor& tensor) {
  if (world.size() == 1) return;
  const torch::NoGradGuard no_grad;
  torch::Tensor host = tensor.cpu();
  broadcast(world, memory_of(host));
  if (!tensor.is_cpu()) tensor.copy_(host);
}

torch::Tensor GradientSum::gather_to_first(const torch::Tensor& own) const {
  if (world_.size() == 1) return own;
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> to(world_.size()), from(world_.size());
  to[0] = own.cpu();
  torch::Tensor whole;
  if (world_.is_rank_zero()) {
    whole = torch::empty({floats_}, torch::kFloat32);
    for (int64_t r = 0; r < world_.size(); ++r) from[r] = part(whole, shard(r));
  }
  exchange(world_, to, from);
  return whole;
}

void GradientSum::scatter_from_first(const torch::Tensor& whole, const torch::Tensor& own) const {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> to(world_.size()), from(world_.size());
  from[0] = torch::empty(own.sizes(), torch::kFloat32);
  for (int64_t r = 0; world_.is_rank_zero() && r < world_.size(); ++r) {
    to[r] = part(whole, shard(r));
  }
  exchange(world_, to, from);
  own.copy_(from[0]);
}

}  // namespace attn
