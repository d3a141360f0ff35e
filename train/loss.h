// Section 5.4: label-smoothed cross entropy, in the three forms in use.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/smoothed_loss.h"
#include "model/seq2seq.h"
#include "train/config.h"

namespace attn {

/// The target distribution of label smoothing over `classes`, with the z-loss. `excluded_class` is
/// the one that gets no probability with Smoothing::wrong_no_pad (-1: none).
cpu::SmoothedTargets smoothed_targets(const TrainConfig& config, int64_t classes,
                                      int64_t excluded_class = -1);

/// From logits [N, V] and targets_N: loss = Σ_rows (Σ_classes -q log p + z_loss
/// (log Z)²), nll = Σ_rows -log p(target). Z = Σ_classes exp(logit); the second term is the z-loss
/// of PaLM (Chowdhery et al. 2022).
LossSums smoothed_loss(const torch::Tensor& logits_NV, const torch::Tensor& targets_N,
                       cpu::SmoothedTargets targets);

/// Projection and loss of decoder rows, in chunks: by a fast path, or as read above.
LossSums output_loss(const Seq2SeqModel& model, const torch::Tensor& x_ND,
                     const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

}  // namespace attn
