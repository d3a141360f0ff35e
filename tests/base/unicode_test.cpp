#include "base/unicode.h"

#include <string>
#include <vector>

#include "base/utf8.h"
#include "tests/support/catch.h"

using namespace attn;

constexpr char32_t end_of_letters = 0x20000;  // beyond lie ideographs and unassigned code points

TEST_CASE("characters have the categories of the Unicode standard") {
  for (const char32_t c : U"!\"#%&'()*,-./:;?@[\\]_{}\u00A1\u00AB\u2014\u201E\u2026\u3002") {
    if (c != 0) CHECK(is_punctuation(c));
  }
  for (const char32_t c : U"$+<=>^`|~\u00A3\u00B0\u20AC\u2122\u2192\U0001F600\U0001F3FD") {
    if (c != 0) CHECK(is_symbol(c));
  }
  for (const char32_t c : U"0123456789\u00B2\u00BD\u0663\u0967\u2167\U0001D7D8") {
    if (c != 0) CHECK(is_number(c));
  }
  for (const char32_t c : U"aZ \u00E4\u6211\u0301\u200B") {
    CHECK_FALSE((is_punctuation(c) || is_symbol(c) || is_number(c)));
  }
}

TEST_CASE("no character is in two of the classes") {
  int64_t in_two = 0, in_one = 0;
  for (char32_t c = 0; c < end_of_letters; ++c) {
    const int classes = is_punctuation(c) + is_symbol(c) + is_number(c) + is_space(c);
    in_one += classes == 1;
    in_two += classes > 1;
  }
  CHECK(in_two == 0);
  CHECK(in_one > 8000);
}

TEST_CASE("lower case reaches beyond ASCII") {
  CHECK(to_lower("") == "");
  CHECK(to_lower("The 12 DOGS [A-Z]") == "the 12 dogs [a-z]");
  CHECK(to_lower("ÄÖÜ ẞ ŽŠ ГДЕ Ā") == "äöü ß žš где ā");
  CHECK(to_lower("äöü straße") == "äöü straße");
  CHECK(to_lower("İstanbul") == "i\u0307stanbul");
}

TEST_CASE("a sigma is final only at the end of a word") {
  CHECK(to_lower("ΟΔΟΣ") == "οδος");
  CHECK(to_lower("ΟΔΟΣ ΣΑΣ.") == "οδος σας.");
  CHECK(to_lower("Σ") == "σ");
  CHECK(to_lower("ΑΣΑ") == "ασα");
  CHECK(to_lower("Α\u0301Σ\u0301") == "α\u0301ς\u0301");  // accents are looked through
  CHECK(to_lower("ΑΣ'Α") == "ασ'α");
}

TEST_CASE("lower-casing twice changes nothing more") {
  std::string all;
  for (char32_t c = 0; c < end_of_letters; ++c) {
    append_utf8(all, c);
    all += ' ';
  }
  const std::string once = to_lower(all);
  CHECK((once != all));  // in brackets: megabytes should not be printed
  CHECK((to_lower(once) == once));
}

TEST_CASE("text is split at Unicode white space and nowhere else") {
  using Words = std::vector<std::string_view>;
  CHECK(split_whitespace("") == Words{});
  CHECK(split_whitespace(" \t\u00A0\u3000 ") == Words{});
  CHECK(split_whitespace("one") == Words{"one"});
  CHECK(split_whitespace("  a\u00A0b\u2028\u2009c\x1Cü\u3000 ") == Words{"a", "b", "c", "ü"});
  CHECK(split_whitespace("a\u200Bb \uFEFFc") == Words{"a\u200Bb", "\uFEFFc"});
  CHECK(split_whitespace("\xE2\x80 \xC2 \xA0") == Words{"\xE2\x80", "\xC2", "\xA0"});  // cut off
}

TEST_CASE("white space is stripped from the end alone") {
  CHECK(strip_right("") == "");
  CHECK(strip_right("  a b \u00A0\u2003\r\n") == "  a b");
  CHECK(strip_right(" \u3000\u0085") == "");
  CHECK(strip_right("ends with ä") == "ends with ä");
  CHECK(strip_right("\xA0\xA0") == "\xA0\xA0");  // no characters at all
}
