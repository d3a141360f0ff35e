#include "base/json_config.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "base/check.h"
#include "base/format.h"
#include "base/parse_number.h"
#include "base/utf8.h"

namespace attn {
namespace {

constexpr int kMaxDepth = 64;

// The parts of a path: eval, 0, every of "eval[0].every" and of "eval.0.every".
std::vector<std::string> parts_of(const std::string& path) {
  static const std::regex form(R"([^\[\].]+(\.[^\[\].]+|\[\d+\])*)"), part(R"([^\[\].]+)");
  require(path.size() < 1000 && std::regex_match(path, form), path, "not a path",
          "expected names and indices, as in eval[0].every");
  return {std::sregex_token_iterator(path.begin(), path.end(), part), std::sregex_token_iterator()};
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;  // keys of each open object
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw ConfigError(name + ": nested deeper than 64 levels");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (!keys.empty() && keys.back().size() > 10'000) {  // finding one takes time by their number
      throw ConfigError(name + ": an object has more than 10000 keys");
    }
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.dump()).second) {
      throw ConfigError(name + ": duplicate key " + parsed.dump() + " in an object");
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& error) {  // "[json.exception.parse_error.101] parse error at …"
    const std::string why = error.what();
    throw ConfigError(name + ": not JSON: " + why.substr(why.find("] ") + 2));
  }
}

Json parse_record(std::string_view line) {
  const auto shallow = [](int depth, auto, const Json&) { return depth <= kMaxDepth; };
  return Json::parse(line, shallow, false);
}

Assignment::Assignment(std::string written) : text(std::move(written)) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError("--set " + text + ": expected path=value, as in model.heads=4");
  }
  if (find_invalid_utf8(text)) throw ConfigError("--set: an assignment is not valid UTF-8");
  path = joined(parts_of(text.substr(0, equals)), ".");
  path = std::regex_replace(path, std::regex(R"(\.(\d+)(?=\.|$))"), "[$1]");
  const std::string right = text.substr(equals + 1);
  // What begins like an array or an object is meant as one.
  const bool is_json = right.starts_with('[') || right.starts_with('{') || Json::accept(right);
  value = is_json ? parse_json(right, "--set " + text.substr(0, equals) + "=…") : Json(right);
}

Json nested(const std::string& path, Json value) {
  const std::vector<std::string> parts = parts_of(path);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    value = Json{{*part, std::move(value)}};
  }
  return value;
}

bool is_within(std::string_view path, std::string_view outer) {
  return path.starts_with(outer) &&
         (path.size() == outer.size() || path[outer.size()] == '.' || path[outer.size()] == '[');
}

void merge_patch(Json& json, const Json& patch) {
  if (!patch.is_object()) {
    json = patch;
    return;
  }
  if (!json.is_structured()) json = Json::object();
  for (const auto& [key, value] : patch.items()) {
    if (json.is_object() && !json.contains(key)) {
      json[key] = value;
      continue;
    }
    Json& old = json.is_array() ? json[element_index(key, json.size(), key)] : json[key];
    require(!old.is_null() || !value.is_object(), key, "null",
            "resets all options; reset single ones, to set " + value.dump());
    merge_patch(old, value);
  }
}

size_t element_index(const std::string& key, size_t size, const std::string& place) {
  if (const auto index = parse_number<size_t>(key); index && *index < size) return *index;
  throw ConfigError(place + ": \"" + key + "\" is not an index of an array of " +
                    std::to_string(size) + " (from 0)");
}

namespace json_config_detail {

void wrong_type(const std::string& place, const Json& json, std::string_view expected) {
  std::string value = json.dump();
  if (value.size() > 60) value = value.substr(0, 57) + "...";
  throw ConfigError(place + ": expected " + std::string(expected) + ", got " + value);
}

void read_value(bool& out, const Json& json, const std::string& place) {
  if (!json.is_boolean()) wrong_type(place, json, "true or false");
  out = json.get<bool>();
}

void read_value(int64_t& out, const Json& json, const std::string& place) {
  constexpr double kExact = int64_t{1} << 53;  // 1e3 is an integer, too
  if (json.is_number_float() && std::abs(json.get<double>()) <= kExact &&
      json.get<double>() == std::trunc(json.get<double>())) {
    out = static_cast<int64_t>(json.get<double>());
    return;
  }
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
  if (json.is_number() || json.is_boolean()) {
    wrong_type(place, json, "a string, such as \"" + json.dump() + "\"");
  }
  if (!json.is_string()) wrong_type(place, json, "a string");
  out = json.get<std::string>();
}

void check_unknown_key(const std::string& place, const std::string& key, const Json& value,
                       const Json& written, const Json& tags, const std::vector<FieldDoc>& docs) {
  if (key.find('.') != key.npos) {
    throw ConfigError(join(place, key) + ": a path, as in --set and grids; nest objects here");
  }
  std::vector<std::string> known, chosen, owners;
  std::string path;  // of the option, or of the first one of a struct
  for (const FieldDoc& doc : docs) {
    if (path.empty() && is_within(doc.path, key)) path = doc.path;
    if (doc.path == path) owners.push_back(doc.only);
  }
  if (!owners.empty() && value.is_null()) return;  // not set
  if (!owners.empty()) throw ConfigError(join(place, key) + ": requires " + joined(owners, " or "));
  for (const auto& [name, ignored] : written.items()) known.push_back(name);
  std::string leaf = key;
  const Json* at = &value;
  for (; nearest(key, known).empty() && at->is_object() && at->size() == 1; at = &at->front()) {
    leaf = at->items().begin().key();
  }
  for (const auto& [tag, word] : tags.items()) chosen.push_back(tag + " " + std::string(word));
  const std::string note = chosen.empty() ? "" : " (" + joined(chosen, " and ") + ")";
  throw UnknownKey(join(place, key) + ": unknown key" + note, leaf, suggestion(key, known));
}

void add_alternatives(std::vector<FieldDoc>& docs, const std::string& tag,
                      const std::vector<AlternativeDocs>& alternatives) {
  const auto find = [](auto& in, const FieldDoc& doc) {
    return std::ranges::find_if(in, [&](const FieldDoc& other) {
      return other.path == doc.path && other.meaning == doc.meaning;
    });
  };
  for (const auto& [word, options] : alternatives) {
    auto next = docs.begin();  // an option that only this one has follows those before it
    for (const FieldDoc& doc : options) {
      const auto found = find(docs, doc);
      next = (found == docs.end() ? docs.insert(next, doc) : found) + 1;
    }
  }
  for (FieldDoc& doc : docs) {
    std::vector<std::string> owners;
    for (const auto& [word, options] : alternatives) {
      if (find(options, doc) != options.end()) owners.push_back(word);
    }
    // Without any, the option depends on another tag.
    if (owners.empty() || owners.size() == alternatives.size()) continue;
    doc.only += (doc.only.empty() ? "" : "; ") + tag + " " + joined(owners, ", ");
  }
}

}  // namespace json_config_detail
}  // namespace attn
