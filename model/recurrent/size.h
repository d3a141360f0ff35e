// What a recurrent encoder-decoder costs, in closed forms: model/size.h.
#pragma once

#include "model/pair_lengths.h"
#include "model/recurrent/config.h"

namespace attn {

int64_t parameter_count(const RecurrentConfig& config, const VocabularySizes& sizes);

/// The products of cells, attention and projection; element-wise work is left out.
double forward_flops(const RecurrentConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);

}  // namespace attn
