// Suggestions for misspelt options of a config, and for the names that other toolkits use.
#pragma once

#include <string>
#include <string_view>

#include "base/unknown_key.h"

namespace attn {

/// The path of the option with this name in any section, or of the equivalent of another toolkit's
/// option: "model.heads" for "heads", "train.learning_rate" for "lr", "search.beam" for
/// "beam-size". "" if there is none.
std::string option_path(std::string_view name);

/// option_path, else the option with the nearest name by edit distance; "" if none is near.
std::string nearest_option(std::string_view name);

/// An error's message with a suggestion: the option of that name in another section, else the
/// nearest name in the same section, else the nearest name of all.
std::string with_suggestion(const UnknownKey& error);

}  // namespace attn
