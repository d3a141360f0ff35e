// Closed forms of model/size.h for ConvS2S.
#pragma once

#include "model/convolutional/config.h"
#include "model/pair_lengths.h"

namespace attn {

int64_t parameter_count(const ConvolutionalConfig& config, const VocabularySizes& sizes);

/// Matrix products of convolutions (with their zeros beyond a sentence's ends), linear layers,
/// attention and projection; element-wise operations and weight norms are not counted.
double forward_flops(const ConvolutionalConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);

}  // namespace attn
