// What training costs, in Table 2's terms.
#pragma once

#include <cstdint>

#include "data/corpus.h"
#include "model/config.h"

namespace attn {

/// Floating-point operations of training on every pair once: forward_flops (model/size.h) of each,
/// times three, since the backward pass multiplies each matrix product's gradient with both of its
/// factors.
double epoch_flops(const EncodedCorpus& corpus, const ModelConfig& model,
                   const VocabularySizes& vocabulary);

}  // namespace attn
