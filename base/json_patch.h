// Strict JSON, and merge patches for configs with tagged unions (base/json_config.h).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn {

/// Keeps the order of the field lists when written.
using Json = nlohmann::ordered_json;

/// Parses text strictly: no comments, no duplicate keys, at most 64 levels. Throws
/// ConfigError with `name`:line:column.
Json parse_json(std::string_view text, const std::string& name);

/// The tagged unions of a config struct, for what is done to its JSON before it is read: see
/// schema_of.
struct ConfigSchema {
  struct Tag {
    std::string name;
    bool replaces = false;  ///< another alternative begins with an empty object
    std::string standard;   ///< the alternative of an object without the tag
    std::vector<std::pair<std::string, Json>> alternatives;  ///< with all options' defaults
  };
  std::vector<Tag> tags;
  std::map<std::string, ConfigSchema> inner;  ///< of fields that are structs, or arrays of structs
};

/// Sets `a.b.c=value` in `json` (the value as JSON where it parses as such, else as a string), as
/// apply_patch does. An index into an array is a number. Throws ConfigError when there is no '=', a
/// part of the path is not an object or the value has a duplicate key.
void set_path(Json& json, std::string_view assignment, const ConfigSchema& schema = {});

/// Lays a merge patch (RFC 7386) over `config`: objects are merged, all else is replaced. A null is
/// kept, so that read_config checks its key and gives the field its default. A patch that changes a
/// tag of `schema` first removes the options that the new alternative does not have, or all of the
/// object (ConfigSchema::Tag::replaces).
void apply_patch(Json& config, const Json& patch, const ConfigSchema& schema = {});

/// Removes from a config that was once read the options that its alternatives do not have: earlier
/// versions wrote those of all alternatives.
void remove_other_options(Json& config, const ConfigSchema& schema);

/// Whether an option of a tagged union has its alternative's default in `object`.
bool is_default(const ConfigSchema& schema, const Json& object, const std::string& key);

/// The tagged unions of a field; none where it has none.
const ConfigSchema& inner_schema(const ConfigSchema& schema, const std::string& key);

}  // namespace attn
