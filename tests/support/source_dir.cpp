#include "tests/support/source_dir.h"

namespace attn::testing {

const char* const kSourceDir = ATTN_SOURCE_DIR;

}  // namespace attn::testing
