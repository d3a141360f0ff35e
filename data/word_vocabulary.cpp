#include "data/word_vocabulary.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <ranges>
#include <stdexcept>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "base/parse_number.h"
#include "base/utf8.h"
#include "data/lines.h"

namespace attn {
namespace {

constexpr std::array<std::string_view, 3> special_tokens = {"<unk>", "<s>", "</s>"};

/// Allows look-ups of a string_view in a map of strings without a copy.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

class WordVocabulary : public Tokenizer {
 public:
  /// `counts` has the count of each word, 0 if not recorded.
  WordVocabulary(std::vector<std::string> words, std::vector<int64_t> counts)
      : words_(std::move(words)), counts_(std::move(counts)) {
    for (size_t i = 0; i < words_.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      serialized_ += words_[i];
      if (counts_[i] > 0) serialized_.append("\t").append(std::to_string(counts_[i]));
      serialized_ += "\n";
      const auto special = std::find(special_tokens.begin(), special_tokens.end(), words_[i]);
      if (special != special_tokens.end()) {
        special_ids_[static_cast<size_t>(special - special_tokens.begin())] = id;
      } else if (words_[i].starts_with(kUnknownClassMark)) {
        classes_.emplace(words_[i], id);
      } else {
        ids_.emplace(words_[i], id);
      }
    }
  }

  int64_t size() const override { return static_cast<int64_t>(words_.size()); }

  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> tokens;
    for_each_word(text, [&](std::string_view word) {
      const auto found = ids_.find(word);
      tokens.push_back(found == ids_.end() ? unknown(word) : found->second);
    });
    return tokens;
  }

  std::string decode(std::span<const int32_t> tokens) const override {
    std::string text;
    for (const int32_t token : tokens) {
      const std::string word = piece(token);
      if (token == bos() || token == eos()) continue;
      text += (text.empty() ? "" : " ") + word;
    }
    return text;
  }

  std::string piece(int64_t id) const override {
    if (id < 0 || id >= size()) {
      throw std::out_of_range("token " + std::to_string(id) + " of a vocabulary of " +
                              std::to_string(size()));
    }
    return words_[static_cast<size_t>(id)];
  }

  int32_t unk() const override { return special_ids_[0]; }
  int32_t bos() const override { return special_ids_[1]; }
  int32_t eos() const override { return special_ids_[2]; }
  int64_t count(int64_t id) const override { return counts_.at(static_cast<size_t>(id)); }
  bool is_unknown(int64_t id) const override {
    return id == unk() || words_.at(static_cast<size_t>(id)).starts_with(kUnknownClassMark);
  }
  int32_t unknown_form(int64_t id) const override {
    const std::string& word = words_.at(static_cast<size_t>(id));
    return ids_.contains(word) ? unknown(word) : static_cast<int32_t>(id);
  }
  const std::string& serialized() const override { return serialized_; }

 private:
  int32_t unknown(std::string_view word) const {
    if (classes_.empty()) return unk();
    for (const std::string& name : unknown_word_classes(word)) {
      if (const auto found = classes_.find(name); found != classes_.end()) return found->second;
    }
    return unk();
  }

  std::vector<std::string> words_;
  std::vector<int64_t> counts_;
  TextMap<int32_t> ids_;  // without special tokens and classes, which text must not produce
  TextMap<int32_t> classes_;
  std::array<int32_t, 3> special_ids_{};
  std::string serialized_;
};

constexpr const char* kExpected =
    "expected a list of words, \"word\" or \"word<TAB>count\" on each line, or a SentencePiece "
    "model (.model, not .vocab)";

struct CountedWord {
  std::string_view word;
  int64_t count = 0;
};

/// The word in a line of a word list. After a tab, a count must follow.
CountedWord word_of(std::string_view line, const std::string& place) {
  if (find_invalid_utf8(line)) throw DataError(place + ": not valid UTF-8; " + kExpected);
  const size_t tab = line.find('\t');
  const std::string_view word = line.substr(0, tab);
  if (word.empty()) throw DataError(place + ": empty line; expected a word");
  if (std::ranges::any_of(word, is_ascii_space)) {
    throw DataError(place + ": white space in a word; " + kExpected);
  }
  CountedWord counted{word};
  if (tab != std::string_view::npos) {
    const std::string_view text = line.substr(tab + 1);
    const auto count = parse_number<int64_t>(text);
    if (!count || *count < 0) {
      throw DataError(place + ": '" + std::string(text.substr(0, 40)) + "' is not a count; " +
                      kExpected);
    }
    counted.count = *count;
  }
  return counted;
}

/// Empties the map. In the order of count_words.
std::vector<WordCount> take_most_frequent(TextMap<int64_t>& counts, size_t max_words) {
  std::vector<WordCount> words;
  words.reserve(counts.size());
  while (!counts.empty()) {
    auto node = counts.extract(counts.begin());
    words.emplace_back(std::move(node.key()), node.mapped());
  }
  if (words.size() > max_words) {
    // Ties by hash: in the order of their bytes, Latin words would displace all of other scripts.
    const auto rank = [](const auto& word) {
      return std::pair(-word.second, hash_text(word.first));
    };
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(max_words);
    std::nth_element(words.begin(), end, words.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    words.erase(end, words.end());
  }
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return words;
}

std::string shape_of(std::string_view word) {
  const auto count = [](std::string_view text, char first, char last) {
    return std::ranges::count_if(text, [=](char c) { return first <= c && c <= last; });
  };
  const auto digits = count(word, '0', '9'), small = count(word, 'a', 'z'),
             capitals = count(word, 'A', 'Z');
  const bool dash = word.find('-') != std::string_view::npos;
  if (digits > 0 && word.find_first_not_of("0123456789.,:/-") == std::string_view::npos) {
    return "number";
  }
  std::string shape = small + capitals == 0                                      ? "other"
                      : capitals == 0                                            ? "lower"
                      : small == 0                                               ? "CAPS"
                      : capitals == 1 && count(word.substr(0, 1), 'A', 'Z') == 1 ? "Cap"
                                                                                 : "mixed";
  if (dash) shape += "+dash";
  if (digits > 0) shape += "+digit";
  return shape;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

std::vector<std::string> unknown_word_classes(std::string_view word) {
  const std::string shape = shape_of(word);
  std::vector<std::string> classes;
  const auto add = [&](std::string_view ending) {
    std::string name(kUnknownClassMark);
    name += shape;
    if (!ending.empty()) name += "-";
    name += ending;
    classes.push_back(name + ">");
  };
  constexpr size_t shortest = 5, longest_ending = 3;
  for (size_t length = longest_ending; word.size() >= shortest && length >= 2; --length) {
    const std::string_view ending = word.substr(word.size() - length);
    if (ending.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == ending.npos) add(ending);
  }
  add("");
  return classes;
}

std::vector<WordCount> count_words(std::span<const std::filesystem::path> texts, size_t max_words) {
  TextMap<int64_t> counts;
  for (const auto& path : texts) {
    LineReader reader(path);
    for (std::string line; reader.next(line);) {
      if (reader.cut() || find_invalid_utf8(line)) continue;
      for_each_word(line, [&](std::string_view word) {
        const auto found = counts.find(word);
        found == counts.end() ? void(counts.emplace(word, 1)) : void(++found->second);
      });
      // Bounds the memory for texts with tens of millions of distinct words, and the time: half of
      // the words must be new before the next time.
      if (counts.size() <= 4 * max_words) continue;
      for (auto& [frequent, count] : take_most_frequent(counts, 2 * max_words)) {
        counts.emplace(std::move(frequent), count);
      }
    }
  }
  return take_most_frequent(counts, max_words);
}

std::vector<WordCount> frequent_classes(std::span<const WordCount> words, int64_t limit) {
  std::map<std::string, int64_t> counts;
  for (const auto& [word, count] : words) {
    for (const std::string& name : unknown_word_classes(word)) counts[name] += count;
  }
  std::erase_if(counts, [](const auto& one) { return one.second < kMinInClass; });
  std::vector<WordCount> classes(counts.begin(), counts.end());
  std::ranges::stable_sort(classes, std::greater(), &WordCount::second);
  classes.resize(std::min(classes.size(), static_cast<size_t>(limit)));
  return classes;
}

std::string learn_word_vocabulary(std::span<const std::filesystem::path> texts, int64_t size,
                                  int64_t min_frequency, bool unknown_classes) {
  std::string list;
  const auto add = [&](std::span<const WordCount> entries) {
    for (const auto& [word, count] : entries) list += word + "\t" + std::to_string(count) + "\n";
  };
  for (const std::string_view special : special_tokens) list += std::string(special) + "\n";
  const int64_t for_classes = unknown_classes ? std::min(kMaxClasses, size / 4) : 0;
  std::vector<WordCount> words = count_words(texts, size_t{1} << 22);
  std::erase_if(words, [](const WordCount& one) {
    return std::ranges::find(special_tokens, one.first) != special_tokens.end() ||
           one.first.starts_with(kUnknownClassMark);
  });
  const auto room =
      std::min<int64_t>(std::ssize(words), size - std::ssize(special_tokens) - for_classes);
  if (room < 0 || (room == 0 && !words.empty())) {
    throw DataError("data.vocab_size: " + std::to_string(size) + ": leaves no room for words");
  }
  const auto frequent = [&](const WordCount& one) { return one.second >= min_frequency; };
  const auto known =
      static_cast<size_t>(std::ranges::count_if(words | std::views::take(room), frequent));
  if (known == 0) {
    throw DataError(texts.front().string() + ": no word occurs at least " +
                    std::to_string(min_frequency) + " times (data.min_frequency)");
  }
  add(std::span(words).first(known));
  if (unknown_classes) add(frequent_classes(std::span(words).subspan(known), for_classes));
  return list;
}

std::unique_ptr<Tokenizer> parse_word_vocabulary(std::string_view text, const std::string& name) {
  std::vector<std::string> words;
  std::vector<int64_t> counts;
  std::unordered_map<std::string_view, int64_t> lines;
  int64_t number = 0;
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::string place = name + ":" + std::to_string(++number);
    const auto [word, count] = word_of(line, place);
    const auto [earlier, fresh] = lines.emplace(word, number);
    if (!fresh) {
      throw DataError(place + ": duplicate word '" + std::string(word) + "', first on line " +
                      std::to_string(earlier->second));
    }
    words.emplace_back(word);
    counts.push_back(count);
  }
  std::vector<std::string> missing;
  for (const std::string_view special : special_tokens) {
    if (!lines.contains(special)) missing.emplace_back(special);
  }
  words.insert(words.begin(), missing.begin(), missing.end());
  counts.insert(counts.begin(), missing.size(), 0);
  if (words.size() <= special_tokens.size()) throw DataError(name + ": the word list has no words");
  return std::make_unique<WordVocabulary>(std::move(words), std::move(counts));
}

}  // namespace attn
