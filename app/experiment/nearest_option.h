// The option of an experiment that a wrong name stands for, in whichever section it is.
#pragma once

#include <string>
#include <string_view>

#include "base/unknown_key.h"

namespace attn {

/// The path of the option of that name in any section, or of what other toolkits call by it:
/// "model.heads" for "heads", "train.learning_rate" for "lr", "search.beam" for "beam-size". ""
/// where there is none.
std::string option_named(std::string_view name);

/// option_named, else the option whose name is nearest; "" where none is near.
std::string nearest_option(std::string_view name);

/// An error's message with the option that was meant: by its name in another section, then by the
/// nearest name in the same one, then by the nearest of all.
std::string with_option_meant(const UnknownKey& error);

}  // namespace attn
