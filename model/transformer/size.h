// Closed forms of model/size.h for the Transformer.
#pragma once

#include "model/pair_lengths.h"
#include "model/transformer/config.h"

namespace attn {

int64_t parameter_count(const TransformerConfig& config, const VocabularySizes& sizes);

/// Causal and restricted self-attention count unmasked positions only: t (t + 1) / 2.
double forward_flops(const TransformerConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);

}  // namespace attn
