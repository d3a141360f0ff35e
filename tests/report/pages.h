// What every report page must satisfy.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace attn::testing {

inline size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The values of an attribute of all elements: x="…".
inline std::vector<std::string> attributes(const std::string& page, const std::string& name) {
  const std::string begin = " " + name + "=\"";
  std::vector<std::string> values;
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const size_t from = at + begin.size();
    values.push_back(page.substr(from, page.find('"', from) - from));
  }
  return values;
}

/// Every start tag of these elements has its end tag; nothing is loaded or run; coordinates are
/// numbers.
inline void check_page(const std::string& page) {
  for (const char* part : {"http", "<script", "<link", "<img", "@import", "url(", " onclick",
                           "\"nan", "nan\"", "\"inf", "inf\"", "-nan", "\"-inf"}) {
    INFO(part);
    CHECK(page.find(part) == std::string::npos);
  }
  for (const std::string tag : {"svg", "g", "text", "title", "table", "tr", "figure", "div", "ul",
                                "li", "details", "span", "h2", "h3", "p"}) {
    INFO(tag);
    const size_t starts = count_of(page, "<" + tag + ">") + count_of(page, "<" + tag + " ");
    CHECK(starts == count_of(page, "</" + tag + ">"));
  }
  for (const char* name : {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height"}) {
    for (const std::string& value : attributes(page, name)) {
      char* end = nullptr;
      const double number = std::strtod(value.c_str(), &end);
      INFO(name << "=" << value);
      CHECK((!value.empty() && *end == '\0' && number > -1000 && number < 1e5));
    }
  }
  for (const std::string& path : attributes(page, "d")) {
    INFO(path);
    CHECK(path.find_first_not_of("MLZ0123456789.- ") == std::string::npos);
  }
}

}  // namespace attn::testing
