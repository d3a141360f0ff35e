// Top-k of logits with log-probabilities, without computing all log-probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// The top `count` classes (at most V) of each row of logits [R, V], best first, ties to the
/// smaller class, with their log-probabilities; both vectors are [R × count]. Any floating type and
/// device. `allowed`: optionally a mask per row, bit c % 64 of word c / 64 for class c; other
/// classes come last, with -inf, and the allowed ones keep their log-probabilities among all
/// classes.
void top_k(const torch::Tensor& logits, int64_t count, std::vector<int32_t>& classes,
           std::vector<float>& log_probs, std::span<const uint64_t* const> allowed = {});

/// The same by torch::topk, on any device; used where there is no kernel. The order of ties is
/// LibTorch's.
void top_k_by_libtorch(const torch::Tensor& logits, int64_t count, std::vector<int32_t>& classes,
                       std::vector<float>& log_probs,
                       std::span<const uint64_t* const> allowed = {});

}  // namespace attn
