#include "kernels/ops/top_k.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/compute_scope.h"
#include "kernels/cpu/table.h"
#include "kernels/fast_path.h"

namespace attn {
namespace {

bool is_allowed(const uint64_t* allowed, int64_t c) {
  return allowed == nullptr || ((allowed[c / 64] >> (c % 64)) & 1) != 0;
}

// Keeps the top `count` of a row in a small sorted array, skipping blocks of classes below its last
// value. Forbidden classes fill the rest.
void best_of_row(const float* logits, int64_t classes, int64_t count, const uint64_t* allowed,
                 int32_t* best, float* values) {
  const auto& kernels = cpu::kernels();
  int64_t held = 0;
  for (int64_t c = 0; c < classes; ++c) {
    if (held == count) {
      c = kernels.next_above(logits, c, classes, values[count - 1]);
      if (c == classes) break;
    }
    if (!is_allowed(allowed, c)) continue;
    const float value = logits[c];
    int64_t at = held < count ? held++ : count - 1;
    for (; at > 0 && value > values[at - 1]; --at) {
      values[at] = values[at - 1];
      best[at] = best[at - 1];
    }
    values[at] = value;
    best[at] = static_cast<int32_t>(c);
  }
  for (int64_t c = 0; held < count; ++c) {
    if (is_allowed(allowed, c)) continue;
    values[held] = -std::numeric_limits<float>::infinity();
    best[held++] = static_cast<int32_t>(c);
  }
}

// [R, V], true where forbidden.
torch::Tensor forbidden(std::span<const uint64_t* const> allowed, int64_t classes) {
  torch::Tensor out = torch::empty({static_cast<int64_t>(allowed.size()), classes}, torch::kBool);
  bool* at = out.data_ptr<bool>();
  for (const uint64_t* mask : allowed) {
    for (int64_t c = 0; c < classes; ++c) *at++ = !is_allowed(mask, c);
  }
  return out;
}

}  // namespace

void top_k_by_libtorch(const torch::Tensor& logits, int64_t count, std::vector<int32_t>& classes,
                       std::vector<float>& log_probs, std::span<const uint64_t* const> allowed) {
  torch::Tensor log_p = logits.to(torch::kFloat32).log_softmax(-1);
  if (!allowed.empty()) {
    log_p.masked_fill_(forbidden(allowed, logits.size(1)).to(logits.device()),
                       -std::numeric_limits<float>::infinity());
  }
  const auto [values, indices] = log_p.topk(std::min(count, logits.size(1)), -1);
  // One copy to the host, the bits of the indices as floats.
  const torch::Tensor both =
      torch::stack({values, indices.to(torch::kInt32).view(torch::kFloat32)}).cpu();
  const auto *v = both[0].const_data_ptr<float>(), *i = both[1].const_data_ptr<float>();
  log_probs.assign(v, v + values.numel());
  classes.resize(log_probs.size());
  std::memcpy(classes.data(), i, classes.size() * sizeof(int32_t));
}

void top_k(const torch::Tensor& logits, int64_t count, std::vector<int32_t>& classes,
           std::vector<float>& log_probs, std::span<const uint64_t* const> allowed) {
  TORCH_CHECK(allowed.empty() || static_cast<int64_t>(allowed.size()) == logits.size(0),
              "top_k: ", allowed.size(), " masks for ", logits.size(0), " rows");
  if (!on_cpu_path(logits) || kernels_in_use() == Kernels::off) {
    return top_k_by_libtorch(logits, count, classes, log_probs, allowed);
  }
  const int64_t rows = logits.size(0), size = logits.size(1);
  count = std::min(count, size);
  classes.resize(static_cast<size_t>(rows * count));
  log_probs.resize(static_cast<size_t>(rows * count));
  const torch::Tensor data = logits.to(torch::kFloat32).contiguous();
  const float* values = data.const_data_ptr<float>();
  at::parallel_for(0, rows, 4, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* best = log_probs.data() + r * count;
      const uint64_t* mask = allowed.empty() ? nullptr : allowed[static_cast<size_t>(r)];
      best_of_row(values + r * size, size, count, mask, classes.data() + r * count, best);
      const float log_sum = cpu::kernels().log_sum_exp(values + r * size, size);
      for (int64_t k = 0; k < count; ++k) best[k] -= log_sum;
    }
  });
}

}  // namespace attn
