// One include for Catch2 version 2 (Debian 12) and version 3 (newer systems).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
namespace attn::testing {
inline auto contains(const std::string& text) {
  return Catch::Matchers::ContainsSubstring(text);
}
}  // namespace attn::testing
#else
#include <catch2/catch.hpp>
namespace attn::testing {
inline auto contains(const std::string& text) {
  return Catch::Matchers::Contains(text);
}
}  // namespace attn::testing
#endif
