// From logits to what beam search takes.
#pragma once

#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "kernels/libtorch.h"
#include "model/step_rows.h"

namespace attn {

/// Each row's best continuations of logits [R, V], under the constraint if there is one: forbidden
/// tokens get -inf, allowed ones the model's own log-probability (or, within a group, also that of
/// the forbidden ones: TokenConstraint::groups).
void choose(const torch::Tensor& logits_RV, const StepRows& rows, TokenConstraint* constraint,
            int64_t candidates, Candidates& out);

}  // namespace attn
