// Skips test cases whose requirements are missing.
#pragma once

#include <string>

namespace attn::testing {

/// Prints why the running test case, or a part of it, is skipped; the case then returns. One that
/// is skipped before its first assertion is reported as skipped and not as passed.
void skip(const std::string& why);

/// `present`; if it is false, the test is skipped.
inline bool machine_has(bool present, const std::string& what) {
  if (!present) skip("this machine has no " + what);
  return present;
}

}  // namespace attn::testing
