#include "base/allocator.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace attn {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  // One arena for all threads: other arenas consist of heaps of at most 64 MB, which are unmapped
  // and mapped again.
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace attn
