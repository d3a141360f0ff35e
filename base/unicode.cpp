#include "base/unicode.h"

#include <algorithm>
#include <span>

#include "base/unicode_tables.h"
#include "base/utf8.h"

namespace attn {
namespace {

using unicode_tables::CaseRange;
using unicode_tables::Range;

/// The range [first, last] that contains `code_point`, or null; ranges are sorted.
template <class R>
const R* find_range(std::span<const R> ranges, char32_t code_point) {
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), code_point,
                                     [](char32_t c, const R& range) { return c < range.first; });
  if (next == ranges.begin() || std::prev(next)->last < code_point) return nullptr;
  return &*std::prev(next);
}

bool in(std::span<const Range> ranges, char32_t code_point) {
  return find_range(ranges, code_point) != nullptr;
}

char32_t lower(char32_t code_point) {
  const auto* range = find_range(std::span<const CaseRange>(unicode_tables::lower), code_point);
  if (range == nullptr || (code_point - range->first) % range->step != 0) return code_point;
  return static_cast<char32_t>(static_cast<int32_t>(code_point) + range->delta);
}

/// Final_Sigma of the Unicode standard, section 3.13: a cased letter precedes and none follows,
/// skipping case-ignorable characters (accents, apostrophes).
bool is_final_sigma(std::span<const char32_t> text, size_t position) {
  const auto ignorable = [](char32_t c) { return in(unicode_tables::case_ignorable, c); };
  const auto cased = [](char32_t c) { return in(unicode_tables::cased, c); };
  size_t before = position;
  while (before > 0 && ignorable(text[before - 1])) --before;
  if (before == 0 || !cased(text[before - 1])) return false;
  size_t after = position + 1;
  while (after < text.size() && ignorable(text[after])) ++after;
  return after == text.size() || !cased(text[after]);
}

/// Length in bytes of the white-space character at `text[i]`; 0 if there is none. Works on bytes
/// for speed: outside of ASCII the first byte nearly always decides.
size_t space_length(std::string_view text, size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  if (byte < 0x80) return byte <= ' ' && is_space(byte) ? 1 : 0;
  if (byte != 0xC2 && (byte < 0xE1 || byte > 0xE3)) return 0;
  const size_t length = byte == 0xC2 ? 2 : 3;
  return is_space(decode_utf8(text.substr(i, length)).front()) ? length : 0;
}

}  // namespace

bool is_punctuation(char32_t code_point) {
  return in(unicode_tables::punctuation, code_point);
}

bool is_symbol(char32_t code_point) {
  return in(unicode_tables::symbols, code_point);
}

bool is_number(char32_t code_point) {
  return in(unicode_tables::numbers, code_point);
}

bool is_space(char32_t code_point) {
  return in(unicode_tables::spaces, code_point);
}

std::string to_lower(std::string_view text) {
  const std::vector<char32_t> code_points = decode_utf8(text);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < code_points.size(); ++i) {
    if (code_points[i] == U'\u0130') {  // I with a dot: the only mapping to two characters
      out += "i\u0307";
    } else if (code_points[i] == U'\u03A3') {
      append_utf8(out, is_final_sigma(code_points, i) ? U'\u03C2' : U'\u03C3');
    } else {
      append_utf8(out, lower(code_points[i]));
    }
  }
  return out;
}

std::vector<std::string_view> split_whitespace(std::string_view text) {
  std::vector<std::string_view> words;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t space = space_length(text, i);
    if (space == 0) {
      ++i;
      continue;
    }
    if (i > start) words.push_back(text.substr(start, i - start));
    i += space;
    start = i;
  }
  if (text.size() > start) words.push_back(text.substr(start));
  return words;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    size_t last = text.size() - 1;  // the first byte of the last character
    while (last > 0 && (text[last] & 0xC0) == 0x80) --last;
    if (space_length(text, last) != text.size() - last) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

}  // namespace attn
