#include "base/utf8.h"

#include <string>

#include "tests/support/catch.h"

using namespace attn;

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
}

TEST_CASE("invalid code points are written as the replacement character") {
  const std::string replacement = "\xEF\xBF\xBD";
  CHECK(encode(0xD800) == replacement);
  CHECK(encode(0xDFFF) == replacement);
  CHECK(encode(0x110000) == replacement);
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

TEST_CASE("well-formed neighbours of malformed sequences are accepted") {
  for (const std::string text : {"", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                 "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK_FALSE(find_invalid_utf8(text));
  }
  CHECK_FALSE(find_invalid_utf8(std::string(1, '\0')));
}

TEST_CASE("a byte order mark is dropped at the start of a text alone") {
  CHECK(without_byte_order_mark("\xEF\xBB\xBF"
                                "a\xEF\xBB\xBF") == "a\xEF\xBB\xBF");
  CHECK(without_byte_order_mark("\xEF\xBB") == "\xEF\xBB");
  std::string text = "\xEF\xBB\xBF";
  drop_byte_order_mark(text);
  CHECK(text.empty());
}

TEST_CASE("each malformed byte becomes one replacement character") {
  const std::vector<char32_t> expected{U'a', 0xFFFD, 0xFFFD, U'b', 0xFFFD, U'\u00E4'};
  CHECK(decode_utf8("a\xE2\x82"
                    "b\xFF\xC3\xA4") == expected);
}
