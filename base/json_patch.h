// Strict JSON, and merge patches for configs with tagged unions (base/json_config.h).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace attn {

/// JSON objects that keep the order of insertion.
using Json = nlohmann::ordered_json;

/// Parses text strictly: no comments, no duplicate keys, at most 64 levels. Throws
/// ConfigError with `name`:line:column.
Json parse_json(std::string_view text, const std::string& name);

/// The tagged unions of a config struct, for patching its JSON before it is read; see schema_of.
struct ConfigSchema {
  struct Tag {
    std::string name;
    bool replaces = false;  ///< another alternative begins with an empty object
    std::string standard;   ///< the alternative of an object without the tag
    std::vector<std::pair<std::string, Json>> alternatives;  ///< with all options' defaults
  };
  std::vector<Tag> tags;
  std::map<std::string, ConfigSchema> inner;  ///< for fields that are structs or arrays of them
};

/// An option that is set on the command line: `model.heads=4`, `eval.0.beam=2`.
struct Assignment {
  /// Throws ConfigError if there is no path or no '=', and for a value that begins as an array or
  /// an object but is not one, or is not UTF-8.
  explicit Assignment(std::string written);

  std::string text;  ///< as written
  std::string path;  ///< as in error messages: "eval[0].beam"
  Json value;        ///< JSON if it parses as JSON, else a string
};

/// Applies the assignment to `json`, like apply_patch. Throws ConfigError if a part of the path is
/// not an object, or not an index of its array.
void set_path(Json& json, const Assignment& assignment, const ConfigSchema& schema = {});

/// Whether the option `path`, in this form, is `outer` or inside it.
bool is_within(std::string_view path, std::string_view outer);

/// Applies a merge patch (RFC 7386) to `config`: objects are merged, everything else is replaced.
/// Unlike in the RFC, null is kept, so that read_config checks the key and resets the field to its
/// default. A patch that changes a tag of `schema` first removes the options that the new
/// alternative does not have, or the whole object (ConfigSchema::Tag::replaces).
void apply_patch(Json& config, const Json& patch, const ConfigSchema& schema = {});

/// Whether an option of a tagged union has its alternative's default in `object`.
bool is_default(const ConfigSchema& schema, const Json& object, const std::string& key);

/// The tagged unions in a field; empty if there are none.
const ConfigSchema& inner_schema(const ConfigSchema& schema, const std::string& key);

/// The error for an unknown key of a config struct, which callers may catch to add a suggestion.
/// The message suggests the nearest key of the same struct.
class UnknownKey : public ConfigError {
 public:
  UnknownKey(const std::string& place, const std::string& wrong, const std::string& innermost,
             const std::string& note, const std::string& suggestion)
      : ConfigError(path_of(place, wrong) + ": unknown key" + note + suggestion),
        path(path_of(place, wrong)),
        key(wrong),
        leaf(innermost),
        complaint(path + ": unknown key" + note) {}

  std::string path;       ///< "train.lr"
  std::string key;        ///< "lr"
  std::string leaf;       ///< "lr" of {"optimizer": {"lr": 1}} too
  std::string complaint;  ///< the message without its suggestion

 private:
  static std::string path_of(const std::string& place, const std::string& wrong) {
    return place.empty() ? wrong : place + "." + wrong;
  }
};

}  // namespace attn
