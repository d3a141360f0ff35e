// Skips tests that require certain hardware.
#pragma once

namespace attn::testing {

/// `present`; if it is false, the test is skipped.
bool machine_has(bool present, const char* what);

}  // namespace attn::testing
