#include "data/unknown_words.h"

#include <algorithm>

namespace attn {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

std::string shape_of(std::string_view word) {
  const auto count = [word](auto is) { return std::ranges::count_if(word, is); };
  const auto digits = count(is_digit), small = count(is_small), capitals = count(is_capital);
  const bool dash = word.find('-') != std::string_view::npos;
  if (digits > 0 && word.find_first_not_of("0123456789.,:/-") == std::string_view::npos) {
    return "number";
  }
  std::string shape = small + capitals == 0                       ? "other"
                      : capitals == 0                             ? "lower"
                      : small == 0                                ? "CAPS"
                      : is_capital(word.front()) && capitals == 1 ? "Cap"
                                                                  : "mixed";
  if (dash) shape += "+dash";
  if (digits > 0) shape += "+digit";
  return shape;
}

}  // namespace

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
    if (std::ranges::all_of(ending, is_small)) add(ending);
  }
  add("");
  return classes;
}

}  // namespace attn
