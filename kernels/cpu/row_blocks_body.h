// Blocks of rows of one head: their products with the columns and the rows of another matrix.
// Part of body.h.

// Queries per block: a loaded vector of keys or values serves four queries, and four independent
// sums hide the latency of additions; twice as many where a processor adds two vectors per cycle.
#ifdef __AVX512F__
static const int64_t kBlock = 4;
#else
static const int64_t kBlock = 8;
#endif

// Floats from one row of transposed keys or scores to the next. Rows of 1,024 keys end to end would
// have all elements of a column in the same few sets of the cache, which took 2.5 times as long.
static inline int64_t row_stride(int64_t keys) {
  const int64_t kLine = 16, lines = (keys + kLine - 1) / kLine;
  return (lines % 8 == 0 ? lines + 1 : lines) * kLine;
}

// Whether rows this far apart share a few sets of the cache, as those of a head in a wide model do;
// copied end to end, they are read, or added to, in up to half of the time.
static inline bool share_sets(int64_t stride, int64_t rows) {
  return stride % 128 == 0 && rows >= 16;
}

static void copy_rows(const float* in, int64_t stride, int64_t rows, int64_t width, float* out) {
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t c = 0; c < width; ++c) out[j * width + c] = in[j * stride + c];
  }
}

static void add_rows_to(const float* in, int64_t rows, int64_t width, float* out, int64_t stride) {
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t c = 0; c < width; ++c) out[j * stride + c] += in[j * width + c];
  }
}

// One stage of the transposition: rows whose indices differ in bit S swap half of their lanes.
template <int S>
static inline void exchange(Vector* rows) {
  Lanes low, high;
  for (int l = 0; l < kLanes; ++l) {
    low[l] = (l & S) == 0 ? l : kLanes + l - S;
    high[l] = (l & S) == 0 ? l + S : kLanes + l;
  }
  for (int r = 0; r < kLanes; ++r) {
    if ((r & S) != 0) continue;
    const Vector a = rows[r], b = rows[r + S];
#ifdef __clang__  // no variable shuffle, but this compiles to one
    for (int l = 0; l < kLanes; ++l) {
      rows[r][l] = low[l] < kLanes ? a[low[l]] : b[low[l] - kLanes];
      rows[r + S][l] = high[l] < kLanes ? a[high[l]] : b[high[l] - kLanes];
    }
#else
    rows[r] = __builtin_shuffle(a, b, low);
    rows[r + S] = __builtin_shuffle(a, b, high);
#endif
  }
}

// [keys, width] to [width][row_stride(keys)], zero-padded to whole vectors.
static void transpose(const float* in, int64_t stride, int64_t keys, int64_t width, float* out) {
  const int64_t padded = row_stride(keys);
  for (int64_t j0 = 0; j0 < keys; j0 += kLanes) {
    const int64_t count = min(kLanes, keys - j0);
    int64_t c0 = 0;
    for (; c0 + kLanes <= width; c0 += kLanes) {
      Vector rows[kLanes];
      for (int64_t j = 0; j < kLanes; ++j) {
        rows[j] = j < count ? load(in + (j0 + j) * stride + c0) : Vector{};
      }
      exchange<1>(rows);
      exchange<2>(rows);
      if constexpr (kLanes > 4) exchange<4>(rows);
      if constexpr (kLanes > 8) exchange<8>(rows);
      for (int64_t c = 0; c < kLanes; ++c) store(out + (c0 + c) * padded + j0, rows[c]);
    }
    for (int64_t c = c0; c < width; ++c) {
      float* row = out + c * padded + j0;
      for (int64_t j = 0; j < kLanes; ++j) row[j] = j < count ? in[(j0 + j) * stride + c] : 0.0f;
    }
  }
}

// A block of rows, row q at first + q * stride; rows beyond `count` repeat the last one.
struct RowBlock {
  const float* rows[kBlock];
};
static inline RowBlock block_of(const float* first, int64_t stride, int64_t count) {
  RowBlock block;
  for (int64_t q = 0; q < kBlock; ++q) block.rows[q] = first + min(q, count - 1) * stride;
  return block;
}

// Not inlined: in one function the loops would run out of registers.
#define ATTN_APART __attribute__((noinline))

// out[q][j] = factor Σ_c rows[q][c] columns[c][j] for j < n, rounded up to whole vectors.
ATTN_APART static void multiply(const RowBlock& block, float factor, const float* columns,
                                int64_t padded, int64_t width, int64_t n, float* out) {
  for (int64_t j0 = 0; j0 < n; j0 += kLanes) {
    Vector sums[kBlock] = {};
    for (int64_t c = 0; c < width; ++c) {
      const Vector column = load(columns + c * padded + j0);
      for (int64_t q = 0; q < kBlock; ++q) sums[q] += block.rows[q][c] * column;
    }
    for (int64_t q = 0; q < kBlock; ++q) store(out + q * padded + j0, sums[q] * factor);
  }
}

// out[q][c] = Σ_j weights[q][j] rows[j][c] for the block's first `count` queries; added to `out` if
// kAdd.
template <bool kAdd = false>
ATTN_APART static void weighted_rows(const float* weights, int64_t padded, const float* rows,
                                     int64_t stride, int64_t n, int64_t width, int64_t count,
                                     float* out, int64_t out_stride) {
  int64_t c0 = 0;
  for (; c0 + kLanes <= width; c0 += kLanes) {
    Vector sums[kBlock] = {};
    for (int64_t j = 0; j < n; ++j) {
      const Vector row = load(rows + j * stride + c0);
      for (int64_t q = 0; q < kBlock; ++q) sums[q] += weights[q * padded + j] * row;
    }
    for (int64_t q = 0; q < count; ++q) {
      float* at = out + q * out_stride + c0;
      store(at, kAdd ? load(at) + sums[q] : sums[q]);
    }
  }
  for (int64_t q = 0; q < count; ++q) {
    for (int64_t c = c0; c < width; ++c) {
      float sum = 0.0f;
      for (int64_t j = 0; j < n; ++j) sum += weights[q * padded + j] * rows[j * stride + c];
      float* at = out + q * out_stride + c;
      *at = kAdd ? *at + sum : sum;
    }
  }
}

// rows[j][c] += Σ_q weights[q][j] block[q][c]
ATTN_APART static void add_outer(const float* weights, int64_t padded, const RowBlock& block,
                                 int64_t n, int64_t width, float* rows, int64_t stride) {
  int64_t c0 = 0;
  for (; c0 + kLanes <= width; c0 += kLanes) {
    Vector parts[kBlock];
    for (int64_t q = 0; q < kBlock; ++q) parts[q] = load(block.rows[q] + c0);
    for (int64_t j = 0; j < n; ++j) {
      Vector sum = load(rows + j * stride + c0);
      for (int64_t q = 0; q < kBlock; ++q) sum += weights[q * padded + j] * parts[q];
      store(rows + j * stride + c0, sum);
    }
  }
  for (int64_t c = c0; c < width; ++c) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (int64_t q = 0; q < kBlock; ++q) sum += weights[q * padded + j] * block.rows[q][c];
      rows[j * stride + c] += sum;
    }
  }
}

static inline void clear(float* x, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; ++j) x[j] = 0.0f;
}
