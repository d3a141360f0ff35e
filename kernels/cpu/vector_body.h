// Vectors as wide as a register. Part of body.h. GCC compiles wider ones into memory operations.

#if defined(__AVX512F__)
#define ATTN_REGISTER 64
#elif defined(__AVX2__)
#define ATTN_REGISTER 32
#else
#define ATTN_REGISTER 16
#endif
// GCC's and Clang's vector extension.
typedef float Vector __attribute__((vector_size(ATTN_REGISTER)));
typedef float UnalignedVector __attribute__((vector_size(ATTN_REGISTER), aligned(4), may_alias));
typedef int32_t Lanes __attribute__((vector_size(ATTN_REGISTER)));

static const int64_t kLanes = ATTN_REGISTER / 4;
#undef ATTN_REGISTER

static inline Vector load(const float* p) {
  return *reinterpret_cast<const UnalignedVector*>(p);
}
static inline void store(float* p, Vector v) {
  *reinterpret_cast<UnalignedVector*>(p) = v;
}

static inline int64_t round_up(int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}
static inline int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}
