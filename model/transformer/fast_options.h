// Which options the fast paths of the Transformer compute.
#pragma once

#include <string>

#include "kernels/fast_path.h"
#include "model/transformer/config.h"

namespace attn {

/// The first option of the config that this fast path (attention or packed_search) does not
/// compute; empty: none, and it may be taken. An option that fast_options.cpp does not list is one,
/// so that a new one is computed as it is read until a fast path is made to follow it.
std::string option_as_read(FastPath path, const TransformerConfig& config);

}  // namespace attn
