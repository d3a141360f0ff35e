#include "app/experiment/config_difference.h"

namespace attn {
namespace {

std::string join(const std::string& place, const std::string& key) {
  return place.empty() ? key : place + "." + key;
}

void collect(const Json& before, const Json& after, const ConfigSchema& schema,
             const std::string& place, std::vector<std::string>& out) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.items()) {
      if (after.contains(key)) {
        collect(value, after[key], inner_schema(schema, key), join(place, key), out);
      } else if (schema.tags.empty()) {
        out.push_back(join(place, key));
      }
    }
    for (const auto& [key, value] : after.items()) {
      if (before.contains(key) || is_default(schema, after, key)) continue;
      out.push_back(join(place, key));
    }
  } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (size_t i = 0; i < before.size(); ++i) {
      collect(before[i], after[i], schema, place + "[" + std::to_string(i) + "]", out);
    }
  } else {
    out.push_back(place);
  }
}

}  // namespace

std::vector<std::string> changed_paths(const Json& before, const Json& after,
                                       const ConfigSchema& schema) {
  std::vector<std::string> out;
  collect(before, after, schema, "", out);
  return out;
}

}  // namespace attn
