// Tests of what not every machine has.
#pragma once

#include "tests/support/catch.h"

namespace attn::testing {

/// `present`; if it is false, warns that the test is skipped.
inline bool machine_has(bool present, const char* what) {
  if (!present) WARN("skipped: this machine has no " << what);
  return present;
}

}  // namespace attn::testing
