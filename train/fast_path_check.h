// A check by measurement that fast paths compute what is read: it finds what no comparison of texts
// (kernels/fast_path.h) sees, such as an option that a kernel ignores, or a fault of a kernel on
// this processor or device.
#pragma once

#include <optional>
#include <string>

#include "train/loss.h"

namespace attn {

struct FastPathCheck {
  /// Also compares gradients, with dropout on a CPU, as in training; and in bf16, coarsely, those
  /// of the same kernels in fp32. Else losses and search alone.
  bool gradients = true;
  Precision precision = Precision::fp32;
  Precision residual = Precision::fp32;      ///< of the residual stream, with precision bf16
  std::optional<cpu::SmoothedTargets> loss;  ///< of the run; else of TrainConfig's defaults
};

/// The largest differences found.
struct FastPathDifference {
  double loss = 0.0;       ///< relative
  double gradients = 0.0;  ///< of the whole gradient, relative
  double search = 0.0;     ///< of a log-probability

  /// "loss 1e-07, gradients 2e-06, search 1e-06".
  std::string text() const;
};

/// Computes two pairs of pseudo-random tokens, one short and one of some 70 tokens, by the modules
/// and by the fast paths in fp32, whatever the precision. Throws ConfigError if they differ by more
/// than rounding, with each of three such sets: the loss by 1e-4, the whole gradient by 1e-4, that
/// of a parameter by 1e-3 of the larger of its norm and a hundredth of the whole (biases of keys
/// have no gradient but rounding), the log-probabilities of search and teacher forcing by 1e-3.
/// Rounding is at most a tenth of these bounds, except where a ReLU is at 0 but for rounding, which
/// one set in some dozens has, and in ill-conditioned models, whose gradients may differ by eight
/// times what they change by if the weights are rounded, and a parameter's as much as another one's
/// up to 5 %. In bf16 the whole gradient may differ by 30 % (seen in the narrowest models: 14 %),
/// that of a parameter by half of the larger of its norm and a quarter of the whole. Draws no
/// random numbers, and leaves weights, gradients and, unless it throws, the mode of the model as
/// they were. Nothing is compared where the modules' own results are not finite.
FastPathDifference check_fast_paths(Seq2SeqModel& model, const FastPathCheck& check);

}  // namespace attn
