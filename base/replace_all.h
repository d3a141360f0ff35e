// Replacement of strings.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Replaces all occurrences of `from`, which is not empty, in linear time.
void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace attn
