// Closed forms of what a model costs: parameters and multiply-adds, from the config alone.
#pragma once

#include <cstdint>

#include "model/config.h"

namespace attn {

/// Trainable parameters: the column "params" of Table 3.
int64_t parameter_count(const ModelConfig& config, const ModelVocabulary& vocabulary);

/// Lengths of one sentence pair in tokens, eos included.
struct PairLengths {
  int64_t source = 0;
  int64_t target = 0;
};

/// Floating-point operations of the matrix products in one forward pass over one pair, a
/// multiply-add counted as two. Causal self-attention counts the positions that are attended to, t
/// (t + 1) / 2; training costs three times this (Table 2 counts the hardware's peak instead: see
/// docs).
double forward_flops(const ModelConfig& config, const ModelVocabulary& vocabulary,
                     const PairLengths& lengths);

}  // namespace attn
