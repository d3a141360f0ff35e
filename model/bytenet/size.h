// Closed forms of model/size.h for ByteNet.
#pragma once

#include "model/bytenet/config.h"
#include "model/pair_lengths.h"

namespace attn {

int64_t parameter_count(const ByteNetConfig& config, const VocabularySizes& sizes);

/// Matrix products of convolutions (with their zeros beyond a sentence's ends), linear layers and
/// projection; element-wise operations and norms are not counted.
double forward_flops(const ByteNetConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);

}  // namespace attn
