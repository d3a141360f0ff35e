// Differences between configs.
#pragma once

#include <string>
#include <vector>

#include "base/json_config.h"

namespace attn {

/// Paths ("model.heads", "eval[1].beam") of the values that differ, in the first one's order. An
/// array of another length differs as a whole. Of the options that only one of them has, since a
/// tag of `schema` differs, those are listed that `after` has with another value than the default.
std::vector<std::string> changed_paths(const Json& before, const Json& after,
                                       const ConfigSchema& schema = {});

}  // namespace attn
