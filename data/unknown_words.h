// Classes of unknown words by shape and suffix, for parsing, as in the lexicon of the Berkeley
// parser (Petrov et al. 2006).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Prefix of class names. Words of the text with this prefix are unknown words.
inline constexpr std::string_view kUnknownClassMark = "<unk:";

/// Classes of fewer words of the text are too rare to train their embedding.
inline constexpr int64_t kMinInClass = 10;
/// The most frequent ones are used.
inline constexpr int64_t kMaxClasses = 500;

/// The word's classes from the most specific to the most general, at most three. Each is a shape,
///
///   number     digits and . , : / - alone           lower, Cap, CAPS   by its letters
///   other      no letter of ASCII                   mixed              aBc, aB
///   … +dash    and a hyphen in it                   … +digit           and a digit in it
///
/// followed, in words of five bytes or more that end in small letters, by the last three or two of
/// them: "<unk:Cap-ing>", "<unk:Cap-ng>", "<unk:Cap>".
std::vector<std::string> unknown_word_classes(std::string_view word);

}  // namespace attn
