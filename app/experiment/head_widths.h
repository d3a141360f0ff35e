// The value "auto" of model.d_k and model.d_v, and a note on widths that change the number of
// parameters.
#pragma once

#include <string>

#include "base/json_patch.h"
#include "model/config.h"

namespace attn {

/// Replaces "auto" in a Transformer's model.d_k or model.d_v by d_model / heads, in a config whose
/// patches have been merged. Throws ConfigError if heads does not divide d_model, and for other
/// strings.
void resolve_head_widths(Json& config);

/// "8 heads x d_k 16 = 128, not d_model 512" if heads x d_k or heads x d_v of a Transformer differs
/// from d_model; "swiglu has a third matrix: d_ff 2048 has the parameters of 3072 with relu, 1365
/// those of 2048" of a gated feed-forward network; else "".
std::string width_note(const ModelConfig& model);

}  // namespace attn
