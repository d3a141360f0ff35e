// Closed forms of what a model costs: parameters and multiply-adds, from the config alone.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "model/pair_lengths.h"

namespace attn {

/// Trainable parameters: the column "params" of Table 3.
int64_t parameter_count(const ModelConfig& config, const VocabularySizes& sizes);

/// Floating-point operations of the matrix products in one forward pass over one pair, a
/// multiply-add counted as two. Training costs three times this (Table 2 counts the hardware's peak
/// instead: see docs).
double forward_flops(const ModelConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);

}  // namespace attn
