// Search by decode() alone: every step decodes the whole prefix of each row again. Slow, and right
// for any model: what search falls back to where decode() was edited and step() does not follow it.
#pragma once

#include <memory>

#include "model/seq2seq.h"

namespace attn {

/// Uses the weights of the model without copies; it must be in evaluation mode.
std::shared_ptr<const InferenceModel> prefix_inference(std::shared_ptr<Seq2SeqModel> model);

}  // namespace attn
