// Word-level tokenizer: text is split at white space; known words are in a word list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/tokenizer.h"

namespace attn {

/// Calls `take` with each word of `text`; words are separated by ASCII white space.
template <class Take>
void for_each_word(std::string_view text, Take&& take) {
  constexpr std::string_view blanks = " \t\r\v\f";
  for (size_t start = text.find_first_not_of(blanks); start != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(blanks, start), text.size());
    take(text.substr(start, end - start));
    start = text.find_first_not_of(blanks, end);
  }
}

/// The words that for_each_word finds.
std::vector<std::string> split_words(std::string_view text);

/// Classes of unknown words by shape and suffix, for parsing, as in the lexicon of the Berkeley
/// parser (Petrov et al. 2006).
///
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

/// A word, or a class of words, and its occurrences in the text.
using WordCount = std::pair<std::string, int64_t>;

/// The classes of these words that have kMinInClass occurrences, at most `limit`, by descending
/// count, then by bytes.
std::vector<WordCount> frequent_classes(std::span<const WordCount> words, int64_t limit);

/// The words of the texts with their counts, by descending count, then by bytes. Keeps the
/// `max_words` most frequent words; ties are drawn, deterministically. In texts with more than four
/// times as many different words the counts of rare ones can be too low. Throws DataError if a file
/// cannot be read.
std::vector<WordCount> count_words(std::span<const std::filesystem::path> texts, size_t max_words);

/// A word list as text, "word<TAB>count" lines after the three special tokens: the most frequent
/// words, at most `size` lines with the special tokens, none seen fewer than `min_frequency` times.
/// With `unknown_classes` it also has the frequent_classes of the other words; a vocabulary with
/// classes maps unknown words to them. Throws DataError.
std::string learn_word_vocabulary(std::span<const std::filesystem::path> texts, int64_t size,
                                  int64_t min_frequency, bool unknown_classes = false);

/// Reads "word" or "word<TAB>count" lines. Missing special tokens among <unk>, <s> and </s> are
/// inserted before the first word. Throws DataError with `name`:line.
std::unique_ptr<Tokenizer> parse_word_vocabulary(std::string_view text, const std::string& name);

}  // namespace attn
