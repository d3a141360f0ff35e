// Models small enough for tests.
#pragma once

#include "model/config.h"

namespace attn::testing {

/// The smallest model with more than one layer, head etc.; tests change the options they test.
inline TransformerConfig small_model() {
  TransformerConfig config;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 24;
  config.heads = 2;
  config.d_k = 8;
  config.d_v = 8;
  return config;
}

}  // namespace attn::testing
