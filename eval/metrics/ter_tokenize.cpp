// The tokenizer of TER.
#include "eval/metrics/ter.h"

#include <algorithm>

#include "base/format.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "eval/metrics/western_punctuation.h"

namespace attn {
namespace {

struct Range {
  char32_t first, last;
};

/// Characters that normalization separates. The block of enclosed letters reaches into the
/// following ones, as in sacreBLEU.
constexpr Range kAsianCharacters[] = {{0x4e00, 0x9fff}, {0x3400, 0x4dbf}, {0x31c0, 0x31ef},
                                      {0x2e80, 0x2eff}, {0x3300, 0x33ff}, {0xf900, 0xfaff},
                                      {0xfe30, 0xfe4f}, {0x3200, 0x3f22}};
constexpr Range kAsianPunctuation[] = {{0x3001, 0x3002}, {0x3008, 0x3011}, {0x3014, 0x301f},
                                       {0xff61, 0xff65}, {0x30fb, 0x30fb}, {0xff0e, 0xff0e},
                                       {0xff0c, 0xff0c}, {0xff1f, 0xff1f}, {0xff1a, 0xff1b},
                                       {0xff01, 0xff02}, {0xff08, 0xff09}};

template <size_t N>
bool is_in(const Range (&ranges)[N], char32_t c) {
  return std::ranges::any_of(ranges, [c](Range r) { return c >= r.first && c <= r.last; });
}

/// Spaces around Asian characters and punctuation. The rules for runs of kana match only at the
/// start of the line, where normalization has put a space: they never apply.
std::string split_asian(std::string_view line) {
  std::string out;
  for (const char32_t c : decode_utf8(line)) {
    const bool alone = is_in(kAsianCharacters, c) || is_in(kAsianPunctuation, c);
    if (alone) out += ' ';
    append_utf8(out, c);
    if (alone) out += ' ';
  }
  return out;
}

std::string without_asian_punctuation(std::string_view line) {
  std::string out;
  for (const char32_t c : decode_utf8(line)) {
    if (!is_in(kAsianPunctuation, c)) append_utf8(out, c);
  }
  return out;
}

std::string normalize(std::string text) {
  replace_all(text, "\n-", "");
  replace_all(text, "\n", " ");
  decode_xml_entities(text);
  text = split_symbols(' ' + text + ' ');
  replace_all(text, "'s ", " 's ");
  return split_around_numbers(text);
}

}  // namespace

std::string ter_tokenize(std::string_view line, const TerOptions& options) {
  line = strip_right(line);
  std::string text = options.case_sensitive ? std::string(line) : to_lower(line);
  if (text.empty()) return text;
  if (options.normalized) {
    text = normalize(std::move(text));
    if (options.asian_support) text = split_asian(text);
  }
  if (options.no_punct) {
    std::erase_if(
        text, [](char c) { return std::string_view(".,?:;!\"()").find(c) != std::string::npos; });
    if (options.asian_support) text = without_asian_punctuation(text);
  }
  return text;
}

}  // namespace attn
