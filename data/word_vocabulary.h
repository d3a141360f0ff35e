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

/// The words of the texts with their counts, by descending count, then by bytes. Keeps the
/// `max_words` most frequent words; ties are drawn, deterministically. In texts with more than four
/// times as many different words the counts of rare ones can be too low. Throws DataError if a file
/// cannot be read.
std::vector<std::pair<std::string, int64_t>> count_words(
    std::span<const std::filesystem::path> texts, size_t max_words);

/// A word list as text, "word<TAB>count" lines after the three special tokens: the most frequent
/// words, at most `size` lines with the special tokens, none seen fewer than `min_frequency` times.
/// With `unknown_classes` it also has the classes (data/unknown_words.h) of at least ten
/// occurrences of unknown words; a vocabulary with classes maps unknown words to them. Throws
/// DataError.
std::string learn_word_vocabulary(std::span<const std::filesystem::path> texts, int64_t size,
                                  int64_t min_frequency, bool unknown_classes = false);

/// Reads "word" or "word<TAB>count" lines. Missing special tokens among <unk>, <s> and </s> are
/// inserted before the first word. Throws DataError with `name`:line.
std::unique_ptr<Tokenizer> parse_word_vocabulary(std::string_view text, const std::string& name);

}  // namespace attn
