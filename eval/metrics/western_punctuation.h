// Steps that the tokenizers of BLEU (mteval-v13a) and TER (Tercom) share: punctuation of Western
// languages.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Replaces &quot; &amp; &lt; &gt;, in this order.
void decode_xml_entities(std::string& text);

/// Spaces around printable ASCII except letters, digits, apostrophe, comma, hyphen and period.
std::string split_symbols(std::string_view line);

/// Spaces around periods and commas that are not between digits, and around a hyphen after a digit.
std::string split_around_numbers(std::string_view line);

}  // namespace attn
