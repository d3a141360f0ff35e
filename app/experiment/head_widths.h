// model.d_k and model.d_v beside d_model: "auto", and what to note where they differ.
#pragma once

#include <string>

#include "base/json_patch.h"
#include "model/config.h"

namespace attn {

/// Replaces "auto" as a Transformer's model.d_k or model.d_v by d_model / heads, in a config whose
/// patches have been merged. Throws ConfigError where heads do not divide d_model, and for another
/// word.
void resolve_head_widths(Json& config);

/// "8 heads x d_k 16 = 128, not d_model 512", where a Transformer's heads are together narrower or
/// wider than d_model; else "".
std::string head_width_note(const ModelConfig& model);

}  // namespace attn
