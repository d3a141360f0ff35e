#include "base/unicode.h"

#include <string>
#include <vector>

#include "base/utf8.h"
#include "tests/support/catch.h"

using namespace attn;

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

namespace {

std::string encode(char32_t code_point) {
  std::string out;
  append_utf8(out, code_point);
  return out;
}

bool is_scalar(char32_t c) {
  return c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
}

}  // namespace

TEST_CASE("code points survive encoding and decoding") {
  std::vector<char32_t> all;
  std::string text;
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x10000 ? 1 : 61) {  // all of two and three bytes
    if (!is_scalar(c)) continue;
    all.push_back(c);
    append_utf8(text, c);
  }
  CHECK_FALSE(find_invalid_utf8(text));
  CHECK((decode_utf8(text) == all));  // in brackets: so many numbers should not be printed
}

TEST_CASE("code points take the bytes of the standard") {
  CHECK(encode(U'A') == "A");
  CHECK(encode(U'\u00E4') == "\xC3\xA4");
  CHECK(encode(U'\u20AC') == "\xE2\x82\xAC");
  CHECK(encode(U'\U0001F600') == "\xF0\x9F\x98\x80");
  for (const char32_t invalid : {0xD800, 0xDFFF, 0x110000})
    CHECK(encode(invalid) == "\xEF\xBF\xBD");
  const std::vector<char32_t> replaced{U'a', 0xFFFD, 0xFFFD, U'b', 0xFFFD, U'\u00E4'};
  CHECK(decode_utf8("a\xE2\x82"
                    "b\xFF\xC3\xA4") == replaced);
}

TEST_CASE("malformed bytes are found where they begin") {
  const std::string malformed[] = {
      "\x80",              // a continuation byte alone
      "\xC0\x80",          // overlong NUL
      "\xC1\xBF",          // overlong
      "\xC3",              // cut off
      "\xC3\x28",          // no continuation
      "\xE0\x9F\xBF",      // overlong
      "\xE2\x82",          // cut off
      "\xE2\x28\xA1",      // second byte wrong
      "\xE2\x82\x28",      // third byte wrong
      "\xED\xA0\x80",      // surrogate
      "\xF0\x8F\xBF\xBF",  // overlong
      "\xF0\x9F\x98",      // cut off
      "\xF4\x90\x80\x80",  // above U+10FFFF
      "\xF5\x80\x80\x80",  // a byte that never occurs
      "\xFF",
  };
  for (const std::string& bytes : malformed) {
    for (const std::string& before : {std::string(), std::string("plain ASCII text, "),
                                      std::string("\xC3\xA4"), std::string("1234567")}) {
      INFO(before.size() << " bytes before " << bytes.size() << " malformed ones");
      CHECK(find_invalid_utf8(before + bytes) == before.size());
      CHECK(find_invalid_utf8(before + bytes + " and more after it") == before.size());
      CHECK(decode_utf8(before + bytes)[decode_utf8(before).size()] == 0xFFFD);
    }
  }
}

TEST_CASE("a byte order mark is dropped at the start of a text alone") {
  CHECK(without_byte_order_mark("\xEF\xBB\xBF"
                                "a\xEF\xBB\xBF") == "a\xEF\xBB\xBF");
  CHECK(without_byte_order_mark("\xEF\xBB") == "\xEF\xBB");
}
