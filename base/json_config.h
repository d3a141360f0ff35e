// Config structs to and from JSON, strictly. A config struct is a plain aggregate with one list of
// its knobs:
//
// clang-format off
//   struct FooConfig {
//     int64_t width = 3;
//     template <class Self, class Visit>
//     static void fields(Self& self, Visit&& visit) {
//       visit("width", self.width, "number of columns");
//     }
//     bool operator==(const FooConfig&) const = default;
//     void validate() const;  // require(width > 0, "width", width, "must be positive"): base/check.h
//   };
// clang-format on
//
// From that list come reading, writing and explaining. An unknown key, a wrong type or an unknown
// word stops with the place, the choices and the nearest right name: a misspelt ablation must never
// run as the base model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/edit_distance.h"
#include "base/enum_names.h"
#include "base/error.h"

namespace attn {

/// Keeps the order of the field lists when written.
using Json = nlohmann::ordered_json;

/// Parses text strictly: no comments, no key twice in one object, at most 64 levels. Throws
/// ConfigError with `name`:line:column.
Json parse_json(std::string_view text, const std::string& name);

/// Sets `a.b.c=value` in `json` (the value as JSON where it parses as such, else as a string). An
/// object is a patch on what stands there. An index into an array is a number. Throws ConfigError
/// when there is no '=', a part of the path is not an object or a key stands twice in the value.
void set_path(Json& json, std::string_view assignment);

/// Lays a merge patch (RFC 7386) over `config`: objects are merged, all else is replaced. A null is
/// kept, so that read_config checks its key and gives the field its default.
void apply_patch(Json& config, const Json& patch);

/// JSON's word for the type of a value, for messages: "a number", "an object" …
std::string json_type_name(const Json& json);

/// One knob, for `attn config --explain`.
struct FieldDoc {
  std::string path, type, value, meaning;
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

[[noreturn]] void wrong_type(const std::string& place, const Json& json, std::string_view wanted);
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

/// The defaults of a struct whose enum values are those in `json`: of a tagged union, those of the
/// alternative that it names.
template <class T>
Json defaults_beside(const Json& json, const std::string& place);

template <class T>
void read_any(T& out, const Json& json, const std::string& place) {
  if constexpr (Struct<T>) {
    read_struct(out, json, place);
  } else if constexpr (std::is_enum_v<T>) {
    std::string word;
    read_value(word, json, place);
    for (const auto& entry : EnumNames<T>::values) {
      if (entry.name == word) {
        out = entry.value;
        return;
      }
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

template <class T>
void read_struct(T& out, const Json& json, const std::string& place) {
  if (!json.is_object()) wrong_type(place.empty() ? "the config" : place, json, "an object");
  std::vector<std::string> known;
  T::fields(out, [&](const char* name, auto& field, const char*) {
    known.emplace_back(name);
    const auto found = json.find(name);
    if (found == json.end()) return;
    if (found->is_null()) {
      read_any(field, defaults_beside<T>(json, place).at(name), join(place, name));
    } else {
      read_any(field, *found, join(place, name));
    }
  });
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw ConfigError(join(place, key) + ": unknown key" + suggestion(key, known));
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
Json defaults_beside(const Json& json, const std::string& place) {
  T defaults{};
  T::fields(defaults, [&](const char* name, auto& field, const char*) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(field)>>) {
      const auto found = json.find(name);
      if (found != json.end() && !found->is_null()) read_any(field, *found, join(place, name));
    }
  });
  return write_any(defaults);
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
void explain_into(std::vector<FieldDoc>& out, const T& config, const std::string& place) {
  T::fields(config, [&](const char* name, const auto& field, const char* meaning) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const std::string path = join(place, name);
    if constexpr (Struct<Field>) {
      explain_into(out, field, path);
    } else {
      out.push_back({path, type_word<Field>(), write_any(field).dump(), meaning});
      if constexpr (IsVector<Field>::value) {
        if constexpr (Struct<typename Field::value_type>) {
          explain_into(out, typename Field::value_type{}, path + "[]");
        }
      }
    }
  });
}

}  // namespace json_config_detail

/// Overwrites the fields of `config` that `json` names; everything else keeps its value. A null
/// stands for the field's default, whatever its value was. `place` is
/// the path of the struct in the whole config. Throws ConfigError with the path of the first
/// mistake.
template <class T>
void read_config(T& config, const Json& json, const std::string& place = "") {
  json_config_detail::read_any(config, json, place);
}

/// All fields, in their list's order.
template <class T>
Json write_config(const T& config) {
  return json_config_detail::write_any(config);
}

/// Every knob with its type, its value in `config` and its meaning.
template <class T>
std::vector<FieldDoc> explain_config(const T& config) {
  std::vector<FieldDoc> out;
  json_config_detail::explain_into(out, config, "");
  return out;
}

}  // namespace attn
