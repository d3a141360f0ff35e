#include "app/experiment/config_difference.h"

namespace attn {
namespace {

std::string join(const std::string& place, const std::string& key) {
  return place.empty() ? key : place + "." + key;
}

std::string element(const std::string& place, size_t index) {
  return place + "[" + std::to_string(index) + "]";
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
      collect(before[i], after[i], schema, element(place, i), out);
    }
  } else {
    out.push_back(place);
  }
}

void collect_values(const Json& json, const std::string& place,
                    std::map<std::string, std::string>& out) {
  if (!json.is_object()) out[place] = json.dump();
  if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) collect_values(json[i], element(place, i), out);
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) collect_values(value, join(place, key), out);
  }
}

}  // namespace

std::vector<std::string> changed_paths(const Json& before, const Json& after,
                                       const ConfigSchema& schema) {
  std::vector<std::string> out;
  collect(before, after, schema, "", out);
  return out;
}

std::string difference_text(const std::string& path, const Json& before, const Json& after) {
  const auto old_values = values_by_path(before), values = values_by_path(after);
  const auto was = old_values.find(path), is = values.find(path);
  if (was == old_values.end() || is == values.end()) return "";
  return " (" + is->second + " instead of " + was->second + ")";
}

std::map<std::string, std::string> values_by_path(const Json& config) {
  std::map<std::string, std::string> out;
  collect_values(config, "", out);
  return out;
}

}  // namespace attn
