// Masks of AVX-512. Included in the namespace of each source file that uses them: see body.h.

// The first `count` of 16 lanes; all for more, none for fewer than one.
__mmask16 first(int64_t count) {
  return count >= 16 ? 0xffff : static_cast<__mmask16>((1u << (count < 0 ? 0 : count)) - 1);
}
