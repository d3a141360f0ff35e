// Selects the candidates of beam search from logits.
#pragma once

#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "kernels/libtorch.h"
#include "model/step_rows.h"

namespace attn {

/// The top continuations of each row of logits [R, V], under the constraint if there is one:
/// forbidden tokens get -inf, allowed ones keep the model's log-probability or, within a group
/// (TokenConstraint::groups), are renormalized.
void select_candidates(const torch::Tensor& logits_RV, const StepRows& rows,
                       TokenConstraint* constraint, int64_t candidates, Candidates& out);

}  // namespace attn
