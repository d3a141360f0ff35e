// Keeps freed memory in the process, since every training step allocates the same sizes.
#pragma once

namespace attn {

/// Makes glibc keep freed blocks: page faults otherwise take a third of a training step. No effect
/// with other allocators. Call once at start-up.
void keep_freed_memory();

}  // namespace attn
