// Memory that is freed and wanted again a moment later, as training wants it at every step, should
// stay with the process.
#pragma once

namespace attn {

/// Tells glibc not to give freed blocks back to the kernel, whose page faults otherwise cost a
/// third of a training step. Does nothing with another allocator. Call once, first thing.
void keep_freed_memory();

}  // namespace attn
