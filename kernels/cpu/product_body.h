// y = x Wᵀ + b for the few rows of a step of search. W is copied once into panels of kPanel
// outputs, [inputs][kPanel] each, so that the innermost loop reads it in order and a weight is read
// once for up to kTileRows rows, whose sums stay in registers. Part of body.h.

#ifdef __AVX512F__
static const int kTileRows = 12, kTileVectors = 2;
#else
static const int kTileRows = 6, kTileVectors = 1;
#endif
static const int64_t kPanel = kTileVectors * kLanes;

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

template <int kRows>
static inline void product_tile(const PanelProduct& p, const float* panel, int64_t row,
                                int64_t output) {
  const float* x = p.x + row * p.x_stride;
  Vector sums[kRows][kTileVectors] = {};
  for (int64_t i = 0; i < p.inputs; ++i) {
    Vector w[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) w[v] = load(panel + i * kPanel + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) sums[r][v] += x[r * p.x_stride + i] * w[v];
    }
  }
  const int64_t count = least(kPanel, p.outputs - output);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    float* y = p.y + (row + r) * p.y_stride + output;
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) {
      Vector sum = sums[r][v];
      float edge[kLanes];  // the last panel may reach beyond the outputs
      const int64_t here = least(kLanes, count - v * kLanes);
      if (here == kLanes) {
        if (p.bias) sum += load(p.bias + output + v * kLanes);
        if (p.relu) sum = sum < 0.0f ? Vector{} : sum;  // NaN stays
        store(y + v * kLanes, sum);
        continue;
      }
      store(edge, sum);
      for (int64_t o = 0; o < here; ++o) {
        const float z = edge[o] + (p.bias ? p.bias[output + v * kLanes + o] : 0.0f);
        y[v * kLanes + o] = p.relu && z < 0.0f ? 0.0f : z;
      }
    }
  }
}

static void multiply_panels(const PanelProduct& p, int64_t first_panel, int64_t last_panel) {
  for (int64_t n = first_panel; n < last_panel; ++n) {
    const float* panel = p.panels + n * kPanel * p.inputs;
    const int64_t output = n * kPanel;
    int64_t row = 0;
    for (; row + kTileRows <= p.rows; row += kTileRows) {
      product_tile<kTileRows>(p, panel, row, output);
    }
    // clang-format off
    switch (p.rows - row) {
#define ATTN_TILE(count)                                                         \
      case count:                                                                \
        product_tile<(count < kTileRows) ? count : 1>(p, panel, row, output);    \
        break
      ATTN_TILE(1);
      ATTN_TILE(2);
      ATTN_TILE(3);
      ATTN_TILE(4);
      ATTN_TILE(5);
      ATTN_TILE(6);
      ATTN_TILE(7);
      ATTN_TILE(8);
      ATTN_TILE(9);
      ATTN_TILE(10);
      ATTN_TILE(11);
#undef ATTN_TILE
      default:
        break;
    }
    // clang-format on
  }
}
