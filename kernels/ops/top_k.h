// The best continuations of every row of logits, without a sort and without writing
// log-probabilities out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// For each row of logits [R, V] its `count` best classes (all V where that is smaller), best
/// first, ties to the smaller class, with their log-probabilities; both vectors are [R × count].
/// Any floating type, any device. Where `allowed` is given it has a mask for each row, bit c % 64
/// of word c / 64 for class c: the classes outside of it come last, with -inf. What is allowed
/// keeps the log-probability that it has among all classes.
void top_k(const torch::Tensor& logits, int64_t count, std::vector<int32_t>& classes,
           std::vector<float>& log_probs, std::span<const uint64_t* const> allowed = {});

/// The same by LibTorch's topk, on any device: what top_k does where there is no kernel of
/// ours. Which of equal classes comes first is left to LibTorch.
void top_k_by_libtorch(const torch::Tensor& logits, int64_t count, std::vector<int32_t>& classes,
                       std::vector<float>& log_probs,
                       std::span<const uint64_t* const> allowed = {});

}  // namespace attn
