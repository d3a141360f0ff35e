// Differences between configs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_config.h"

namespace attn {

/// Paths ("model.heads", "eval[1].beam") of the values that differ, in the order of `before`.
/// Arrays of different lengths differ as a whole. Options that only one config has, because a tag
/// of `schema` differs, are listed if `after` has them with a value other than the default.
std::vector<std::string> changed_paths(const Json& before, const Json& after,
                                       const ConfigSchema& schema = {});

/// The JSON text of every value, by path; of arrays also as a whole.
std::map<std::string, std::string> values_by_path(const Json& config);

/// " (80 instead of 60)": the values of one of the paths as JSON; empty if a config lacks it.
std::string difference_text(const std::string& path, const Json& before, const Json& after);

}  // namespace attn
