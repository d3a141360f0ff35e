#include "base/json_config.h"

#include <set>

#include "base/utf8.h"

namespace attn {
namespace {

constexpr int kMaxDepth = 64;

std::string position(std::string_view text, size_t byte) {
  int64_t line = 1, column = 1;
  for (size_t i = 0; i < std::min(byte, text.size()); ++i) {
    line += text[i] == '\n';
    column = text[i] == '\n' ? 1 : column + 1;
  }
  return std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw ConfigError(name + ": nested deeper than 64 levels");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      throw ConfigError(name + ": the key " + parsed.dump() + " stands twice in one object");
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    std::string why = error.what();
    if (const size_t at = why.find(": "); at != std::string::npos) why = why.substr(at + 2);
    throw ConfigError(name + ":" + position(text, error.byte ? error.byte - 1 : 0) +
                      ": not JSON: " + why);
  } catch (const Json::exception& error) {  // a number beyond all floats
    std::string why = error.what();
    if (const size_t at = why.find("] "); at != std::string::npos) why = why.substr(at + 2);
    throw ConfigError(name + ": " + why);
  }
}

void set_path(Json& json, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw ConfigError("--set " + std::string(assignment) +
                      ": write path=value, as in model.heads=4");
  }
  if (find_invalid_utf8(assignment)) {
    throw ConfigError("--set: an assignment is not UTF-8");
  }
  const std::string value(assignment.substr(equals + 1));
  Json* at = &json;
  std::string_view path = assignment.substr(0, equals);
  while (true) {
    const size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    if (at->is_array()) {
      const bool number = !key.empty() && key.size() < 7 &&
                          key.find_first_not_of("0123456789") == std::string::npos;
      if (!number || std::stoul(key) >= at->size()) {
        throw ConfigError("--set " + std::string(assignment) + ": \"" + key +
                          "\" is no index of an array of " + std::to_string(at->size()));
      }
      at = &(*at)[std::stoul(key)];
    } else {
      if (at->is_null()) *at = Json::object();
      if (!at->is_object()) {
        throw ConfigError("--set " + std::string(assignment) + ": \"" + key + "\" is inside " +
                          json_type_name(*at) + ", not an object");
      }
      at = &(*at)[key];
    }
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  if (!Json::accept(value)) {
    *at = value;
    return;
  }
  apply_patch(*at, parse_json(value, "--set " + std::string(assignment)));
}

void apply_patch(Json& config, const Json& patch) {
  if (!patch.is_object()) {
    config = patch;
    return;
  }
  if (!config.is_object()) config = Json::object();
  for (const auto& [key, value] : patch.items()) apply_patch(config[key], value);
}

std::string json_type_name(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return "a number";
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return "nothing";
}

namespace json_config_detail {

void wrong_type(const std::string& place, const Json& json, std::string_view wanted) {
  std::string value = json.dump();
  if (value.size() > 60) value = value.substr(0, 57) + "...";
  throw ConfigError(place + ": " + value + " is " + json_type_name(json) + ", wanted " +
                    std::string(wanted));
}

void read_value(bool& out, const Json& json, const std::string& place) {
  if (!json.is_boolean()) wrong_type(place, json, "true or false");
  out = json.get<bool>();
}

void read_value(int64_t& out, const Json& json, const std::string& place) {
  if (!json.is_number_integer() ||
      (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX)) {
    wrong_type(place, json, "an integer");
  }
  out = json.get<int64_t>();
}

void read_value(double& out, const Json& json, const std::string& place) {
  if (!json.is_number()) wrong_type(place, json, "a number");
  out = json.get<double>();
}

void read_value(std::string& out, const Json& json, const std::string& place) {
  if (!json.is_string()) wrong_type(place, json, "a string");
  out = json.get<std::string>();
}

}  // namespace json_config_detail
}  // namespace attn
