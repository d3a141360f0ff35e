// Where two configs differ.
#pragma once

#include <string>
#include <vector>

#include "base/json_config.h"

namespace attn {

/// Paths ("model.heads", "eval[1].beam") of the values that differ, in the first one's order. An
/// array of another length differs as a whole.
std::vector<std::string> changed_paths(const Json& before, const Json& after);

}  // namespace attn
