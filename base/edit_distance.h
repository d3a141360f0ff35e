// Suggestions for misspelt words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attn {

/// Damerau-Levenshtein distance in bytes (adjacent swaps count as one).
int64_t edit_distance(std::string_view a, std::string_view b);

/// The choice nearest to `word` whatever its case, one that begins with it or, after an underscore,
/// is its end; "" if none is near.
std::string nearest(std::string_view word, std::span<const std::string> choices);

/// "; did you mean heads?", or "; one of: a, b, c" if no choice is near; "" without choices.
std::string suggestion(std::string_view word, std::span<const std::string> choices);

}  // namespace attn
