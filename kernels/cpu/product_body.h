// Products y = x R + b: linear layers in training and in the decoding steps of search. Part of
// body.h. R (a weight, or its transpose) is packed into panels of kPanel columns, [inputs][kPanel]
// each, so that the inner loop reads it sequentially and an element is loaded once for up to
// kTileRows rows, whose sums stay in registers. Without AVX-512 VNNI (int8.h) int8 weights are
// converted to float when loaded and the sums scaled at the end: a quarter of the memory traffic.

// A tile's sums and the operands of one step fill the registers.
#ifdef __AVX512F__
static const int kTileRows = 12;
#else
static const int kTileRows = 6;
#endif
static const int kTileVectors = 2;
static const int64_t kPanel = kTileVectors * kLanes;

static const int kWordInputs = 4;  // int8 weights per word

static int64_t panels_of(int64_t outputs) {
  return (outputs + kPanel - 1) / kPanel;
}

static void pack_panels(const float* weight, int64_t outputs, int64_t inputs, float* panels) {
  for (int64_t o0 = 0; o0 < outputs; o0 += kPanel) {
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t o = 0; o < kPanel; ++o) {
        *panels++ = o0 + o < outputs ? weight[(o0 + o) * inputs + i] : 0.0f;
      }
    }
  }
}

// The same for a right operand that is stored as [inputs, columns].
static void pack_columns(const float* rows, int64_t stride, int64_t inputs, int64_t columns,
                         float* panels) {
  for (int64_t c0 = 0; c0 < columns; c0 += kPanel) {
    const int64_t count = min(kPanel, columns - c0);
    const float* from = rows + c0;
    for (int64_t i = 0; i < inputs; ++i, from += stride, panels += kPanel) {
      if (count == kPanel) {
#pragma GCC unroll 4
        for (int v = 0; v < kTileVectors; ++v) store(panels + v * kLanes, load(from + v * kLanes));
        continue;
      }
      for (int64_t c = 0; c < kPanel; ++c) panels[c] = c < count ? from[c] : 0.0f;
    }
  }
}

// The rows of a left operand that is stored as [inputs, rows], tile after tile, [inputs][rows of
// the tile] each: in place, a tile would read a part of a cache line per input, and lines that are
// a power of two apart share a few sets of the cache.
static void pack_tiles(const float* columns, int64_t stride, int64_t inputs, int64_t rows,
                       float* tiles) {
  for (int64_t i = 0; i < inputs; ++i, columns += stride) {
    int64_t row = 0;
    for (; row + kTileRows <= rows; row += kTileRows) {
      __builtin_memcpy(tiles + row * inputs + i * kTileRows, columns + row,
                       kTileRows * sizeof(float));
    }
    const int64_t rest = rows - row;
    float* last = tiles + row * inputs + i * rest;
    for (int64_t r = 0; r < rest; ++r) last[r] = columns[row + r];
  }
}

// sums[r] += x[r][i] w, with w the weights of input i.
template <int kRows, bool kTiled>
static inline void add_input(const PanelProduct& p, const float* x, int64_t i,
                             const Vector (&w)[kTileVectors], Vector (&sums)[kRows][kTileVectors]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) {
      sums[r][v] += (kTiled ? x[i * kRows + r] : x[r * p.x_stride + i]) * w[v];
    }
  }
}

template <int kRows, bool kTiled>
static inline void add_products(const PanelProduct& p, const float* x, const float* panel,
                                Vector (&sums)[kRows][kTileVectors]) {
  for (int64_t i = 0; i < p.inputs; ++i) {
    Vector w[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) w[v] = load(panel + i * kPanel + v * kLanes);
    add_input<kRows, kTiled>(p, x, i, w, sums);
  }
}

// The weights of word input `k`.
static inline Vector widened(Lanes words, int k) {
  return __builtin_convertvector((words << (24 - 8 * k)) >> 24, Vector);
}

template <int kRows, bool kTiled>
static inline void add_products(const PanelProduct& p, const float* x, const uint32_t* panel,
                                Vector (&sums)[kRows][kTileVectors]) {
  for (int64_t i0 = 0; i0 < p.inputs; i0 += kWordInputs, panel += kPanel) {
    Lanes words[kTileVectors];
    __builtin_memcpy(&words, panel, sizeof words);
    const int64_t count = min(kWordInputs, p.inputs - i0);
#pragma GCC unroll 4
    for (int k = 0; k < kWordInputs; ++k) {
      if (k >= count) break;
      Vector w[kTileVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) w[v] = widened(words[v], k);
      add_input<kRows, kTiled>(p, x, i0 + k, w, sums);
    }
  }
}

// y = sums + b of `rows` rows from `row`, for int8 weights, tiles of fewer rows and the last panel,
// which may exceed the outputs. Not a template: compiled into every tile, unrolled, it took most of
// the time of compilation.
__attribute__((noinline)) static void store_tile(const PanelProduct& p,
                                                 const Vector (*sums)[kTileVectors], int rows,
                                                 int64_t row, int64_t output) {
  for (int r = 0; r < rows; ++r) {
    float* y = p.y + (row + r) * p.y_stride + output;
    for (int v = 0; v < kTileVectors; ++v, y += kLanes) {
      const int64_t first = output + v * kLanes;
      const int64_t here = min(kLanes, p.outputs - first);
      Vector sum = sums[r][v];
      if (p.scales) sum *= load(p.scales + first);
      if (here == kLanes) {
        if (p.bias) sum += load(p.bias + first);
        if (p.add) sum += load(y);
        if (p.relu) sum = sum < 0.0f ? Vector{} : sum;  // propagates NaN
        store(y, sum);
        continue;
      }
      float edge[kLanes];  // the last panel may exceed the outputs
      store(edge, sum);
      for (int64_t o = 0; o < here; ++o) {
        const float z = edge[o] + (p.bias ? p.bias[first + o] : 0.0f) + (p.add ? y[o] : 0.0f);
        y[o] = p.relu && z < 0.0f ? 0.0f : z;
      }
    }
  }
}

// y = sums + b of whole vectors, from the registers.
template <int kRows>
static inline void store_sums(const PanelProduct& p, Vector (&sums)[kRows][kTileVectors], float* y,
                              int64_t output) {
  if (p.bias) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) {
      const Vector bias = load(p.bias + output + v * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r][v] += bias;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r, y += p.y_stride) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) {
      Vector sum = sums[r][v];
      if (p.add) sum += load(y + v * kLanes);
      if (p.relu) sum = sum < 0.0f ? Vector{} : sum;  // propagates NaN
      store(y + v * kLanes, sum);
    }
  }
}

template <int kRows, bool kTiled, class Weight>
static inline void product_tile(const PanelProduct& p, const Weight* panel, int64_t row,
                                int64_t output) {
  const float* x = p.x + (kTiled ? row * p.inputs : row * p.x_stride);
  Vector sums[kRows][kTileVectors] = {};
  add_products<kRows, kTiled>(p, x, panel, sums);
  if (kRows == kTileRows && !p.scales && output + kPanel <= p.outputs) {
    store_sums<kRows>(p, sums, p.y + row * p.y_stride + output, output);
    return;
  }
  // A copy: `sums` itself is only kept in registers if its address is not taken.
  Vector tile[kRows][kTileVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) tile[r][v] = sums[r][v];
  }
  store_tile(p, tile, kRows, row, output);
}

// The tile of the last `rows` rows, fewer than kTileRows.
template <int kRows, bool kTiled, class Weight>
static inline void last_tile(const PanelProduct& p, const Weight* panel, int64_t row, int rows,
                             int64_t output) {
  if constexpr (kRows < kTileRows) {
    if (rows == kRows) return product_tile<kRows, kTiled>(p, panel, row, output);
    last_tile<kRows + 1, kTiled>(p, panel, row, rows, output);
  }
}

// `size` is that of a panel.
template <bool kTiled, class Weight>
static void multiply(const PanelProduct& p, const Weight* panels, int64_t size, int64_t first_panel,
                     int64_t last_panel) {
  for (int64_t n = first_panel; n < last_panel; ++n) {
    const Weight* panel = panels + n * size;
    const int64_t output = n * kPanel;
    int64_t row = 0;
    for (; row + kTileRows <= p.rows; row += kTileRows) {
      product_tile<kTileRows, kTiled>(p, panel, row, output);
    }
    const int rest = static_cast<int>(p.rows - row);
    last_tile<1, kTiled>(p, panel, row, rest, output);
  }
}

static void multiply_panels(const PanelProduct& p, int64_t first_panel, int64_t last_panel) {
  if (p.int8_panels) {
    const int64_t words = (p.inputs + kWordInputs - 1) / kWordInputs;
    multiply<false>(p, p.int8_panels, kPanel * words, first_panel, last_panel);
  } else if (p.tiled) {
    multiply<true>(p, p.panels, kPanel * p.inputs, first_panel, last_panel);
  } else {
    multiply<false>(p, p.panels, kPanel * p.inputs, first_panel, last_panel);
  }
}
