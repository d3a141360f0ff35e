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
// fields that depend on them, and of those only the chosen alternative's. What is read with another
// tag keeps the options that both alternatives have; with `static constexpr bool kTagReplaces =
// true` all options begin with their defaults.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/edit_distance.h"
#include "base/enum_names.h"
#include "base/error.h"
#include "base/format.h"
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
concept Tagged = Struct<T> && requires {
  T::kTags;
};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
concept HasStructs = Struct<T> ||(IsVector<T>::value&& Struct<typename T::value_type>);
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

template <class T>
std::string type_word();

template <class T>
std::vector<FieldDoc> explain_struct(const T& config, const std::string& place);

// Throws ConfigError for a key that `written`, all options of a struct with these tags, lacks.
void check_unknown_key(const std::string& place, const std::string& key, const Json& value,
                       const Json& written, const Json& tags, const std::vector<FieldDoc>& docs);

// The options of an alternative.
using AlternativeDocs = std::pair<std::string, std::vector<FieldDoc>>;
// Adds those that `docs` lacks, and notes which alternatives of the tag have an option that not all
// have.
void add_alternatives(std::vector<FieldDoc>& docs, const std::string& tag,
                      const std::vector<AlternativeDocs>& alternatives);

template <class T>
void read_any(T& out, const Json& json, const std::string& place) {
  if constexpr (Struct<T>) {
    read_struct(out, json, place);
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.is_string()) wrong_type(place, json, "one of " + joined(enum_choices<T>(), ", "));
    const auto word = json.get<std::string>();
    if (const std::optional<T> value = enum_named<T>(word)) {
      out = *value;
      return;
    }
    throw ConfigError(place + ": \"" + word + "\" is not a choice" +
                      suggestion(word, enum_choices<T>()));
  } else if constexpr (IsOptional<T>::value) {
    out.reset();
    if (json == Json("auto")) return;
    if (json.is_string()) wrong_type(place, json, type_word<T>());
    read_any(out.emplace(), json, place);
  } else if constexpr (IsVector<T>::value) {
    if (json.is_object() && !json.empty()) {
      for (const auto& [key, value] : json.items()) {
        read_any(out[element_index(key, out.size(), place)], value, place + "[" + key + "]");
      }
      return;
    }
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
    merge_patch(out, json);
  } else {
    read_value(out, json, place);
  }
}

// The values of the tags.
template <class T>
Json chosen_tags(const T& config) {
  Json tags = Json::object();
  if constexpr (Tagged<T>) {
    const Json json = write_any(config);
    for (const char* tag : T::kTags) tags[tag] = json.at(tag);
  }
  return tags;
}

template <class T>
void read_fields(T& out, const Json& json, const std::string& place);

// The defaults of the alternatives with these tags.
template <class T>
T with_tags(const Json& tags) {
  T config{};
  read_fields(config, tags, "");
  return config;
}

// Reads the fields that `json` has, whatever else it has.
template <class T>
void read_fields(T& out, const Json& json, const std::string& place) {
  T::fields(out, [&](const char* name, auto& field, const char*) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    if (!found->is_null()) return read_any(field, *found, join(place, name));
    const Json tags = chosen_tags(out);
    std::remove_cvref_t<decltype(field)> usual{};
    read_any(usual, write_any(tags.contains(name) ? T{} : with_tags<T>(tags)).at(name), "");
    field = usual;
  });
}

// Chooses the alternatives that `json` names. Options that they do not have, or that are not set,
// get their defaults.
template <class T>
void choose_alternatives(T& config, const Json& json, const std::string& place) {
  constexpr bool replaces = requires {
    T::kTagReplaces;
  };
  const Json before = chosen_tags(config), values = write_any(config),
             usual = write_any(with_tags<T>(before));
  Json tags = before;
  for (const auto& [tag, word] : before.items()) {
    tags[tag] = json.value(tag, word);
    if (tags[tag].is_null()) tags[tag] = write_any(T{}).at(tag);
  }
  Json kept = tags;
  for (const auto& [name, value] : values.items()) {
    if (!(replaces && tags != before) && value != usual.at(name)) kept[name] = value;
  }
  config = T{};
  read_fields(config, kept, place);
}

template <class T>
void read_struct(T& out, const Json& json, const std::string& place) {
  if (!json.is_object()) wrong_type(place.empty() ? "the config" : place, json, "an object");
  if constexpr (Tagged<T>) choose_alternatives(out, json, place);
  read_fields(out, json, place);
  const Json written = write_any(out);
  for (const auto& [key, value] : json.items()) {
    if (written.contains(key)) continue;
    check_unknown_key(place, key, value, written, chosen_tags(out), explain_struct(T{}, ""));
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
  } else if constexpr (IsOptional<T>::value) {
    return value ? write_any(*value) : Json("auto");
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

// All options with the defaults of the alternatives that `config` has.
template <class T>
Json write_usual(const T& config) {
  if constexpr (Struct<T>) {
    Json json = write_any(with_tags<T>(chosen_tags(config)));
    T::fields(config, [&](const char* name, const auto& field, const char*) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (HasStructs<Field>) json[name] = write_usual(field);
    });
    return json;
  } else if constexpr (IsVector<T>::value) {
    Json json = Json::array();
    for (const auto& item : config) json.push_back(write_usual(item));
    return json;
  } else {
    return write_any(T{});
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
  else if constexpr (IsOptional<T>::value)
    return type_word<typename T::value_type>() + " or \"auto\"";
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
      if constexpr (HasStructs<Field>) {
        append(explain_struct(typename Field::value_type{}, path + "[]"));
      }
    }
  });
  return docs;
}

// Those of all alternatives.
template <class T>
std::vector<FieldDoc> explain_struct(const T& config, const std::string& place) {
  std::vector<FieldDoc> docs = explain_chosen(config, place);
  const Json tags = chosen_tags(config);
  T::fields(config, [&](const char* name, const auto& field, const char*) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_enum_v<Field>) {
      if (!tags.contains(name)) return;
      std::vector<AlternativeDocs> alternatives;
      for (const std::string& word : enum_choices<Field>()) {
        alternatives.emplace_back(word, explain_chosen(with_tags<T>({{name, word}}), place));
      }
      add_alternatives(docs, name, alternatives);
    }
  });
  return docs;
}

}  // namespace json_config_detail

/// Overwrites the fields of `config` that `json` has; other fields keep their values, so that
/// `json` is a merge patch. null resets a field to its default; an object patches the elements of
/// an array that its keys number. Derived values are optional and spelt "auto". An option of
/// another alternative of a union is an error, also at its default. `place` is the path of the
/// struct in the config. Throws ConfigError with the path of the first error.
template <class T>
void read_config(T& config, const Json& json, const std::string& place = "") {
  json_config_detail::read_any(config, json, place);
}

/// All fields as JSON, in the order of their list.
template <class T>
Json write_config(const T& config) {
  return json_config_detail::write_any(config);
}

/// The same with the defaults of the fields, but the tags of `config`.
template <class T>
Json write_defaults(const T& config) {
  return json_config_detail::write_usual(config);
}

/// Every option of every alternative with its type, its value in `config` (the default if `config`
/// does not have it) and its meaning.
template <class T>
std::vector<FieldDoc> explain_config(const T& config) {
  return json_config_detail::explain_struct(config, "");
}

}  // namespace attn
