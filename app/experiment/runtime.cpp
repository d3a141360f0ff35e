#include "app/experiment/runtime.h"

#include "base/check.h"

namespace attn {

void RuntimeConfig::validate() const {
  require(timeout >= 1, "timeout", timeout, "must be 1 second or more");
}

}  // namespace attn
