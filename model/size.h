// Closed forms of parameters and FLOPs, from the config alone.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "model/pair_lengths.h"

namespace attn {

/// Trainable parameters: the column "params" of Table 3.
int64_t parameter_count(const ModelConfig& config, const VocabularySizes& sizes);

/// FLOPs of the matrix products of one forward pass over one pair; a multiply-add counts as two.
/// Training costs three times this. (Table 2 of the paper counts sustained FLOP/s × time instead.)
double forward_flops(const ModelConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);

}  // namespace attn
