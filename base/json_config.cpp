#include "base/json_config.h"

#include <algorithm>
#include <cmath>
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

// The value of a tag in an object; the tag may be missing or invalid.
std::string chosen_word(const ConfigSchema::Tag& tag, const Json& object) {
  const auto found = object.find(tag.name);
  if (found == object.end() || found->is_null()) return tag.standard;
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// All options of an alternative; null if the alternative does not exist.
const Json* options_of(const ConfigSchema::Tag& tag, const std::string& word) {
  for (const auto& [name, options] : tag.alternatives) {
    if (name == word) return &options;
  }
  return nullptr;
}

// The alternatives that have an option.
std::vector<std::string> owners(const ConfigSchema::Tag& tag, const std::string& key) {
  std::vector<std::string> words;
  for (const auto& [word, options] : tag.alternatives) {
    if (options.contains(key)) words.push_back(word);
  }
  return words;
}

void remove_options_of_others(Json& object, const ConfigSchema::Tag& tag, const std::string& word) {
  const Json* options = options_of(tag, word);
  if (options == nullptr) return;  // reading reports it
  std::vector<std::string> others;
  for (const auto& [key, value] : object.items()) {
    if (!options->contains(key) && !owners(tag, key).empty()) others.push_back(key);
  }
  for (const std::string& key : others) object.erase(key);
}

bool is_index(std::string_view text) {
  return !text.empty() && text.size() < 7 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The parts of a path: eval, 0, beam of "eval[0].beam" and of "eval.0.beam".
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const size_t dot = path.find('.');
    std::string_view part = path.substr(0, dot);
    const size_t open = part.find('[');
    if (open != std::string_view::npos && open > 0 && part.ends_with(']') &&
        is_index(part.substr(open + 1, part.size() - open - 2))) {
      parts.emplace_back(part.substr(0, open));
      part = part.substr(open + 1, part.size() - open - 2);
    }
    parts.emplace_back(part);
    if (dot == std::string_view::npos) return parts;
    path.remove_prefix(dot + 1);
  }
}

std::string shown_path(const std::vector<std::string>& parts) {
  std::string path;
  for (const std::string& part : parts) {
    if (is_index(part) && !path.empty()) {
      path += "[" + part + "]";
    } else {
      path += (path.empty() ? "" : ".") + part;
    }
  }
  return path;
}

// "a", "a and b", "a, b and c".
std::string and_list(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;  // keys of each open object
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw ConfigError(name + ": nested deeper than 64 levels");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.dump()).second) {
      throw ConfigError(name + ": duplicate key " + parsed.dump() + " in an object");
    }
    return true;
  };
  const auto reason = [](const Json::exception& error, std::string_view after) {
    const std::string why = error.what();
    const size_t at = why.find(after);
    return at == std::string::npos ? why : why.substr(at + after.size());
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    throw ConfigError(name + ":" + position(text, error.byte ? error.byte - 1 : 0) +
                      ": not JSON: " + reason(error, ": "));
  } catch (const Json::exception& error) {  // a number out of range, which the message quotes
    throw ConfigError(name + ": " + reason(error, "] "));
  }
}

Assignment::Assignment(std::string written) : text(std::move(written)) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError("--set " + text + ": expected path=value, as in model.heads=4");
  }
  if (find_invalid_utf8(text)) throw ConfigError("--set: an assignment is not valid UTF-8");
  path = shown_path(parts_of(std::string_view(text).substr(0, equals)));
  const std::string right = text.substr(equals + 1);
  // What begins like an array or an object is meant as one.
  const bool is_json = right.starts_with('[') || right.starts_with('{') || Json::accept(right);
  value = is_json ? parse_json(right, "--set " + text.substr(0, equals) + "=…") : Json(right);
}

void set_path(Json& json, const Assignment& assignment, const ConfigSchema& schema) {
  const std::string name = "--set " + assignment.text + ": ";
  Json* at = &json;
  const ConfigSchema* at_schema = &schema;
  const std::vector<std::string> parts = parts_of(assignment.path);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string& key = parts[i];
    const bool last = i + 1 == parts.size();
    if (key.find_first_of("[]") != std::string::npos) {
      throw ConfigError(name + key + ": expected an index of an array, as in eval[0]");
    }
    if (at->is_array()) {
      if (!is_index(key) || std::stoul(key) >= at->size()) {
        throw ConfigError(name + "\"" + key + "\" is not an index of an array of " +
                          std::to_string(at->size()));
      }
      at = &(*at)[std::stoul(key)];
      if (last) apply_patch(*at, assignment.value, *at_schema);
      continue;
    }
    if (at->is_null()) *at = Json::object();
    if (!at->is_object()) {
      throw ConfigError(name + "\"" + key + "\" is inside " + at->dump() + ", not an object");
    }
    if (last) {
      Json option = Json::object();
      option[key] = assignment.value;
      apply_patch(*at, option, *at_schema);
    } else {
      at = &(*at)[key];
      at_schema = &inner_schema(*at_schema, key);
    }
  }
}

bool is_within(std::string_view path, std::string_view outer) {
  return path.starts_with(outer) &&
         (path.size() == outer.size() || path[outer.size()] == '.' || path[outer.size()] == '[');
}

void apply_patch(Json& config, const Json& patch, const ConfigSchema& schema) {
  if (!patch.is_object()) {
    config = patch;
    return;
  }
  if (!config.is_object()) config = Json::object();
  for (const ConfigSchema::Tag& tag : schema.tags) {
    if (!patch.contains(tag.name) || chosen_word(tag, config) == chosen_word(tag, patch)) continue;
    if (tag.replaces) {
      config = Json::object();
    } else {
      remove_options_of_others(config, tag, chosen_word(tag, patch));
    }
  }
  for (const auto& [key, value] : patch.items()) {
    apply_patch(config[key], value, inner_schema(schema, key));
  }
}

const ConfigSchema& inner_schema(const ConfigSchema& schema, const std::string& key) {
  static const ConfigSchema none;
  const auto found = schema.inner.find(key);
  return found == schema.inner.end() ? none : found->second;
}

bool is_default(const ConfigSchema& schema, const Json& object, const std::string& key) {
  return std::any_of(schema.tags.begin(), schema.tags.end(), [&](const ConfigSchema::Tag& tag) {
    const Json* options = options_of(tag, chosen_word(tag, object));
    return options != nullptr && options->contains(key) && (*options)[key] == object.at(key);
  });
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
  if (!json.is_string()) wrong_type(place, json, "a string");
  out = json.get<std::string>();
}

void check_unknown_key(const std::string& place, const std::string& key, const Json& value,
                       const Json& written, const ConfigSchema& schema) {
  std::vector<std::string> known, chosen;
  for (const auto& [name, ignored] : written.items()) known.push_back(name);
  for (const ConfigSchema::Tag& tag : schema.tags) {
    const std::string word = chosen_word(tag, written);
    chosen.push_back(tag.name + " " + word);
    const std::vector<std::string> words = owners(tag, key);
    if (words.empty() || options_of(tag, word)->contains(key)) continue;
    if (value.is_null() || value == options_of(tag, words.front())->at(key)) return;
    throw ConfigError(join(place, key) + ": " + chosen.back() + " has no such option (" + tag.name +
                      (words.size() > 1 ? "s " : " ") + and_list(words) +
                      (words.size() > 1 ? " have)" : " has)"));
  }
  std::string leaf = key;
  for (const Json* at = &value; at->is_object() && at->size() == 1; at = &at->front()) {
    leaf = at->items().begin().key();
  }
  throw UnknownKey(place, key, leaf, chosen.empty() ? "" : " (" + and_list(chosen) + ")",
                   suggestion(key, known));
}

void merge_docs(std::vector<FieldDoc>& docs, const std::vector<FieldDoc>& alternative) {
  auto next = docs.begin();
  for (const FieldDoc& doc : alternative) {
    const auto found = std::find_if(docs.begin(), docs.end(), [&](const FieldDoc& other) {
      return other.path == doc.path && other.meaning == doc.meaning;
    });
    next = (found == docs.end() ? docs.insert(next, doc) : found) + 1;
  }
}

void note_alternatives(
    std::vector<FieldDoc>& docs, const std::string& tag,
    const std::vector<std::pair<std::string, std::vector<FieldDoc>>>& alternatives) {
  for (FieldDoc& doc : docs) {
    std::string words;
    size_t count = 0;
    for (const auto& [word, options] : alternatives) {
      const bool has = std::any_of(options.begin(), options.end(), [&](const FieldDoc& other) {
        return other.path == doc.path && other.meaning == doc.meaning;
      });
      if (has) words += (count++ > 0 ? ", " : "") + word;
    }
    // count 0: the option also depends on another tag.
    if (count > 0 && count < alternatives.size()) {
      doc.only += (doc.only.empty() ? "" : "; ") + tag + " " + words;
    }
  }
}

}  // namespace json_config_detail
}  // namespace attn
