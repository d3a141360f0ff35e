// Training FLOPs (Table 2).
#pragma once

#include <cstdint>

#include "data/corpus.h"
#include "model/config.h"

namespace attn {

/// FLOPs of one epoch: three times forward_flops (model/size.h), summed over all pairs. The
/// backward pass computes two matrix products for each of the forward pass.
double epoch_flops(const EncodedCorpus& corpus, const ModelConfig& model,
                   const VocabularySizes& vocabulary);

}  // namespace attn
