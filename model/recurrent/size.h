// Closed forms of model/size.h for the recurrent encoder-decoder.
#pragma once

#include "model/pair_lengths.h"
#include "model/recurrent/config.h"

namespace attn {

int64_t parameter_count(const RecurrentConfig& config, const VocabularySizes& sizes);

/// Matrix products of cells, attention and projection; element-wise operations are not counted.
double forward_flops(const RecurrentConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);

}  // namespace attn
