// Tests of what not every processor has.
#pragma once

#include <string>

#include "tests/support/skip.h"

namespace attn::testing {

/// `present`; if it is false, the test is skipped.
inline bool machine_has(bool present, const char* what) {
  if (!present) skip(std::string("this machine has no ") + what);
  return present;
}

}  // namespace attn::testing
