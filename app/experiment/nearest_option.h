// Suggestions for options of a config that were put into the wrong section, or misspelt.
#pragma once

#include <string>
#include <string_view>

#include "base/unknown_key.h"

namespace attn {

/// The path of the option with this name or path in a section other than eval: "model.heads" for
/// "heads". "" if there is none.
std::string option_path(std::string_view name);

/// option_path, else the option with the nearest name by edit distance; "" if none is near.
std::string nearest_option(std::string_view name);

/// An error's message with a suggestion: the option of that name in another section, else the
/// nearest name in the same section, else the nearest name of all.
std::string with_suggestion(const UnknownKey& error);

}  // namespace attn
