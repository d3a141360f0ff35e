// From logits to what beam search takes.
#pragma once

#include <span>

#include "eval/beam_search.h"
#include "eval/token_constraint.h"
#include "kernels/libtorch.h"

namespace attn {

/// The rows that StepDecoder::step is given.
struct StepRows {
  std::span<const int64_t> parents;
  std::span<const int32_t> tokens;
  std::span<const int64_t> sentences;
};

/// Each row's best continuations of logits [R, V], under the constraint if there is one: forbidden
/// tokens get -inf, allowed ones the model's own log-probability (or, within a group, also that of
/// the forbidden ones: TokenConstraint::groups).
void choose(const torch::Tensor& logits_RV, const StepRows& rows, TokenConstraint* constraint,
            int64_t candidates, Candidates& out);

}  // namespace attn
