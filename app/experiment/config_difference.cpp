#include "app/experiment/config_difference.h"

namespace attn {
namespace {

void collect(const Json& before, const Json& after, const std::string& place,
             std::vector<std::string>& out) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.items()) {
      const std::string path = place.empty() ? key : place + "." + key;
      after.contains(key) ? collect(value, after[key], path, out) : out.push_back(path);
    }
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key)) out.push_back(place.empty() ? key : place + "." + key);
    }
  } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (size_t i = 0; i < before.size(); ++i) {
      collect(before[i], after[i], place + "[" + std::to_string(i) + "]", out);
    }
  } else {
    out.push_back(place);
  }
}

}  // namespace

std::vector<std::string> changed_paths(const Json& before, const Json& after) {
  std::vector<std::string> out;
  collect(before, after, "", out);
  return out;
}

}  // namespace attn
