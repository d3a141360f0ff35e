#include "tests/support/hardware.h"

#include <string>

#include "tests/support/skip.h"

namespace attn::testing {

bool machine_has(bool present, const char* what) {
  if (!present) skip("this machine has no " + std::string(what));
  return present;
}

}  // namespace attn::testing
