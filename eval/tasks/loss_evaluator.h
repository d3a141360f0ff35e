// Perplexity per token, as in Table 3: without smoothing, eos counted.
#pragma once

#include <span>

#include "data/batch.h"
#include "model/seq2seq.h"

namespace attn {

struct LossReport {
  double nll = 0.0;         ///< -log p per target token
  double perplexity = 0.0;  ///< exp of it
  double accuracy = 0.0;    ///< share of tokens whose most likely class is right
  int64_t tokens = 0;
};

/// Puts the model into evaluation mode and scores every batch, in float32.
LossReport evaluate_loss(Seq2SeqModel& model, std::span<const Batch> batches);

}  // namespace attn
