// Config structs to and from JSON, strictly. A config struct is a plain aggregate with one list of
// its options:
//
// clang-format off
//   struct FooConfig {
//     int64_t width = 3;
//     template <class Self, class Visit>
//     static void fields(Self& self, Visit&& visit) {
//       visit("width", self.width, "number of columns");
//     }
//     bool operator==(const FooConfig&) const = default;
//     void validate() const;  // require(width > 0, "width", width, "must be positive"), base/check.h
//   };
// clang-format on
//
// Reading, writing and --explain are generated from that list. Unknown keys, wrong types and
// unknown enum values are errors with path, choices and the nearest valid name, so that a misspelt
// option never runs as the base model.
//
// A struct may be a tagged union: an enum field decides which other fields it has. It names such
// fields (`static constexpr std::array kTags = {"kind"}`), and `fields` visits them before the
// fields that depend on them, and of those only the chosen alternative's. With `static constexpr
// bool kTagReplaces = true` a patch that changes the tag replaces the whole object instead of
// keeping common options.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/edit_distance.h"
#include "base/enum_names.h"
#include "base/error.h"
#include "base/json_patch.h"

namespace attn {

/// One option, for `attn config --explain`.
struct FieldDoc {
  std::string path, type, value, meaning;
  std::string only = {};  ///< the alternatives that have it, "kind bleu, parse"; empty: all
};

namespace json_config_detail {

template <class T>
concept Struct = requires(T& self) {
  T::fields(self, [](auto&&...) {});
};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

[[noreturn]] void wrong_type(const std::string& place, const Json& json, std::string_view expected);
void read_value(bool& out, const Json& json, const std::string& place);
void read_value(int64_t& out, const Json& json, const std::string& place);
void read_value(double& out, const Json& json, const std::string& place);
void read_value(std::string& out, const Json& json, const std::string& place);

inline std::string join(const std::string& place, std::string_view key) {
  return place.empty() ? std::string(key) : place + "." + std::string(key);
}

template <class T>
void read_struct(T& out, const Json& json, const std::string& place);
template <class T>
Json write_any(const T& value);

// The names of the tags of a struct, in the order in which they are visited.
template <class T>
std::vector<std::string> tags_of() {
  if constexpr (requires { T::kTags; }) return {std::begin(T::kTags), std::end(T::kTags)};
  return {};
}

// Throws ConfigError for a key that is not in `written` (all options of the struct and its tags),
// unless another alternative has the option and the value is its default.
void check_unknown_key(const std::string& place, const std::string& key, const Json& value,
                       const Json& written, const ConfigSchema& schema);

// Inserts options that only `alternative` has after those that precede them there.
void merge_docs(std::vector<FieldDoc>& docs, const std::vector<FieldDoc>& alternative);
// Notes which alternatives of the tag have each option, where not all do.
void note_alternatives(
    std::vector<FieldDoc>& docs, const std::string& tag,
    const std::vector<std::pair<std::string, std::vector<FieldDoc>>>& alternatives);

template <class T>
void read_any(T& out, const Json& json, const std::string& place) {
  if constexpr (Struct<T>) {
    read_struct(out, json, place);
  } else if constexpr (std::is_enum_v<T>) {
    std::string word;
    read_value(word, json, place);
    if (const std::optional<T> value = enum_named<T>(word)) {
      out = *value;
      return;
    }
    throw ConfigError(place + ": \"" + word + "\" is not a choice" +
                      suggestion(word, enum_choices<T>()));
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) wrong_type(place, json, "an array");
    out.clear();
    for (size_t i = 0; i < json.size(); ++i) {
      typename T::value_type item{};
      read_any(item, json[i], place + "[" + std::to_string(i) + "]");
      out.push_back(std::move(item));
    }
  } else if constexpr (IsMap<T>::value) {
    if (!json.is_object()) wrong_type(place, json, "an object");
    out.clear();
    for (const auto& [key, value] : json.items()) read_any(out[key], value, join(place, key));
  } else if constexpr (std::is_same_v<T, Json>) {
    out = json;
  } else {
    read_value(out, json, place);
  }
}

// Calls visit(field) for the tag `name` of a struct.
template <class T, class Visit>
void visit_tag(T& config, const std::string& name, Visit&& visit) {
  std::remove_const_t<T>::fields(config, [&](const char* field_name, auto& field, const char*) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(field)>>) {
      if (name == field_name) visit(field);
    }
  });
}

// The defaults of one alternative.
template <class T>
T alternative(const std::string& tag, const Json& word) {
  T config{};
  visit_tag(config, tag, [&](auto& field) { read_any(field, word, tag); });
  return config;
}

// The default of one option, of the alternatives that `like` has chosen.
template <class T>
Json default_of(const T& like, const std::string& name) {
  const std::vector<std::string> tags = tags_of<T>();
  T usual{};
  if (!tags.empty() && std::find(tags.begin(), tags.end(), name) == tags.end()) {
    const Json chosen = write_any(like);
    for (const std::string& tag : tags) {
      visit_tag(usual, tag, [&](auto& field) { read_any(field, chosen.at(tag), tag); });
    }
  }
  return write_any(usual).at(name);
}

template <class T>
std::vector<std::string> words_of_tag(const std::string& tag) {
  std::vector<std::string> words;
  const T config{};
  visit_tag(config, tag, [&](const auto& field) {
    words = enum_choices<std::remove_cvref_t<decltype(field)>>();
  });
  return words;
}

template <class T>
ConfigSchema schema_of();

template <class T>
void add_inner_schemas(ConfigSchema& schema, const T& config) {
  T::fields(config, [&](const char* name, const auto& field, const char*) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (Struct<Field>) {
      schema.inner.emplace(name, schema_of<Field>());
    } else if constexpr (IsVector<Field>::value) {
      if constexpr (Struct<typename Field::value_type>) {
        schema.inner.emplace(name, schema_of<typename Field::value_type>());
      }
    }
  });
}

template <class T>
ConfigSchema schema_of() {
  constexpr bool replaces = requires {
    T::kTagReplaces;
  };
  ConfigSchema schema;
  add_inner_schemas(schema, T{});
  for (const std::string& name : tags_of<T>()) {
    ConfigSchema::Tag tag{.name = name,
                          .replaces = replaces,
                          .standard = write_any(T{}).at(name),
                          .alternatives = {}};
    for (const std::string& word : words_of_tag<T>(name)) {
      const T config = alternative<T>(name, word);
      add_inner_schemas(schema, config);
      tag.alternatives.emplace_back(word, write_any(config));
    }
    schema.tags.push_back(std::move(tag));
  }
  return schema;
}

template <class T>
void read_struct(T& out, const Json& json, const std::string& place) {
  if (!json.is_object()) wrong_type(place.empty() ? "the config" : place, json, "an object");
  std::vector<std::string> known;
  T::fields(out, [&](const char* name, auto& field, const char*) {
    known.emplace_back(name);
    const auto found = json.find(name);
    if (found == json.end()) return;
    if (found->is_null()) {
      read_any(field, default_of(out, name), join(place, name));
    } else {
      read_any(field, *found, join(place, name));
    }
  });
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      check_unknown_key(place, key, value, write_any(out), schema_of<T>());
    }
  }
}

template <class T>
Json write_any(const T& value) {
  if constexpr (Struct<T>) {
    Json json = Json::object();
    T::fields(value, [&](const char* name, const auto& field, const char*) {
      json[name] = write_any(field);
    });
    return json;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(enum_name(value));
  } else if constexpr (IsVector<T>::value) {
    Json json = Json::array();
    for (const auto& item : value) json.push_back(write_any(item));
    return json;
  } else if constexpr (IsMap<T>::value) {
    Json json = Json::object();
    for (const auto& [key, item] : value) json[key] = write_any(item);
    return json;
  } else {
    return value;
  }
}

template <class T>
std::string type_word() {
  if constexpr (std::is_same_v<T, bool>)
    return "true | false";
  else if constexpr (std::is_same_v<T, int64_t>)
    return "integer";
  else if constexpr (std::is_same_v<T, double>)
    return "number";
  else if constexpr (std::is_same_v<T, std::string>)
    return "string";
  else if constexpr (IsVector<T>::value)
    return "array";
  else if constexpr (std::is_enum_v<T>) {
    std::string words;
    for (const auto& name : enum_choices<T>()) words += (words.empty() ? "" : " | ") + name;
    return words;
  } else {
    return "object";
  }
}

template <class T>
std::vector<FieldDoc> explain_struct(const T& config, const std::string& place);

// The options that `config` has with its tags.
template <class T>
std::vector<FieldDoc> explain_chosen(const T& config, const std::string& place) {
  std::vector<FieldDoc> docs;
  const auto append = [&](std::vector<FieldDoc> more) {
    docs.insert(docs.end(), more.begin(), more.end());
  };
  T::fields(config, [&](const char* name, const auto& field, const char* meaning) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const std::string path = join(place, name);
    if constexpr (Struct<Field>) {
      append(explain_struct(field, path));
    } else {
      docs.push_back({path, type_word<Field>(), write_any(field).dump(), meaning});
      if constexpr (IsVector<Field>::value) {
        if constexpr (Struct<typename Field::value_type>) {
          append(explain_struct(typename Field::value_type{}, path + "[]"));
        }
      }
    }
  });
  return docs;
}

// Those of all alternatives.
template <class T>
std::vector<FieldDoc> explain_struct(const T& config, const std::string& place) {
  std::vector<FieldDoc> docs = explain_chosen(config, place);
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::vector<FieldDoc>>>>>
      tags;
  for (const std::string& tag : tags_of<T>()) {
    tags.push_back({tag, {}});
    for (const std::string& word : words_of_tag<T>(tag)) {
      tags.back().second.emplace_back(word, explain_chosen(alternative<T>(tag, word), place));
      merge_docs(docs, tags.back().second.back().second);
    }
  }
  for (const auto& [tag, alternatives] : tags) note_alternatives(docs, tag, alternatives);
  return docs;
}

}  // namespace json_config_detail

/// Overwrites the fields of `config` that `json` has; other fields keep their values. null resets a
/// field to its default. An option of another alternative of a tagged union is an error unless it
/// has its default value. `place` is the path of the struct in the config. Throws ConfigError with
/// the path of the first error.
template <class T>
void read_config(T& config, const Json& json, const std::string& place = "") {
  json_config_detail::read_any(config, json, place);
}

/// All fields as JSON, in the order of their list.
template <class T>
Json write_config(const T& config) {
  return json_config_detail::write_any(config);
}

/// Every option of every alternative with its type, its value in `config` (the default if `config`
/// does not have it) and its meaning.
template <class T>
std::vector<FieldDoc> explain_config(const T& config) {
  return json_config_detail::explain_struct(config, "");
}

/// The tagged unions of T and of the structs in it.
template <class T>
const ConfigSchema& schema_of() {
  static const ConfigSchema schema = json_config_detail::schema_of<T>();
  return schema;
}

}  // namespace attn
