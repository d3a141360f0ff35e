// Strict JSON, and merge patches (RFC 7386) of it, such as the options of a command line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace attn {

/// JSON objects that keep the order of insertion.
using Json = nlohmann::ordered_json;

/// Parses text strictly: no comments, no duplicate keys, at most 64 levels. Throws
/// ConfigError with `name`, line and column.
Json parse_json(std::string_view text, const std::string& name);

/// A record of a log, which may be foreign: discarded if it is not JSON; without what is nested
/// deeper than 64 levels, which a copy would follow by recursion.
Json parse_record(std::string_view line);

/// An option that is set on the command line: `model.heads=4`, `eval.0.every=2`.
struct Assignment {
  /// Throws ConfigError if there is no path or no '=', and for a value that begins as an array or
  /// an object but is not one, or is not UTF-8.
  explicit Assignment(std::string written);

  std::string text;  ///< as written
  std::string path;  ///< as in error messages: "eval[0].every"
  Json value;        ///< JSON if it parses as JSON, else a string
};

/// The patch that sets the option at a path: {"model": {"heads": 4}}, {"eval": {"0": {"every":
/// 2}}}.
Json nested(const std::string& path, Json value);

/// Whether the option `path`, in the form of Assignment::path, is `outer` or inside it.
bool is_within(std::string_view path, std::string_view outer);

/// Applies a merge patch: objects are merged, everything else is replaced. Unlike in the RFC, null
/// is kept, since it resets an option to its default (read_config), and an object patches the
/// elements of an array that its keys number. Throws ConfigError for a number beyond the array, and
/// for options of an object that null resets.
void merge_patch(Json& json, const Json& patch);

/// The element of an array of `size`, at `place`, that `key` numbers. Throws ConfigError for
/// others.
size_t element_index(const std::string& key, size_t size, const std::string& place);

/// The error for an unknown key of a config struct, which callers may catch to add a suggestion.
/// The message suggests the nearest key of the same struct.
class UnknownKey : public ConfigError {
 public:
  UnknownKey(std::string message, std::string innermost, const std::string& suggestion)
      : ConfigError(message + suggestion),
        complaint(std::move(message)),
        leaf(std::move(innermost)) {}

  std::string complaint;  ///< the message without its suggestion
  std::string leaf;       ///< the key; "lr" of {"optimizer": {"lr": 1}}
};

}  // namespace attn
