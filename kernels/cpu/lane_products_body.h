// Products of blocks of vectors across heads (narrow_attention_body.h). Part of body.h.

// out[q][j] = factor Σ_c block[q][c] rows[j][c] for j < n; rows of `out` are `keys` vectors long.
ATTN_APART static void lane_products(const float* block, float factor, const float* rows,
                                     int64_t any_width, int64_t n, int64_t keys, float* out) {
  with_width(any_width, [&](auto width) {
    for (int64_t j = 0; j < n; ++j) {
      Vector sums[kBlock] = {};
      for (int64_t c = 0; c < width; ++c) {
        const Vector row = load(rows + (j * width + c) * kLanes);
        for (int64_t q = 0; q < kBlock; ++q)
          sums[q] += load(block + (q * width + c) * kLanes) * row;
      }
      for (int64_t q = 0; q < kBlock; ++q) store(out + (q * keys + j) * kLanes, sums[q] * factor);
    }
  });
}

// out[q][c] = Σ_j weights[q][j] rows[j][c], added to `out` if kAdd.
template <bool kAdd = false>
ATTN_APART static void lane_sums(const float* weights, const float* rows, int64_t any_width,
                                 int64_t n, int64_t keys, float* out) {
  with_width(any_width, [&](auto width) {
    for (int64_t c = 0; c < width; ++c) {
      Vector sums[kBlock] = {};
      for (int64_t j = 0; j < n; ++j) {
        const Vector row = load(rows + (j * width + c) * kLanes);
        for (int64_t q = 0; q < kBlock; ++q)
          sums[q] += load(weights + (q * keys + j) * kLanes) * row;
      }
      for (int64_t q = 0; q < kBlock; ++q) {
        float* at = out + (q * width + c) * kLanes;
        store(at, kAdd ? load(at) + sums[q] : sums[q]);
      }
    }
  });
}

// rows[j][c] += Σ_q weights[q][j] block[q][c]
ATTN_APART static void lane_outer(const float* weights, const float* block, int64_t any_width,
                                  int64_t n, int64_t keys, float* rows) {
  with_width(any_width, [&](auto width) {
    for (int64_t j = 0; j < n; ++j) {
      Vector parts[kBlock];
      for (int64_t q = 0; q < kBlock; ++q) parts[q] = load(weights + (q * keys + j) * kLanes);
      for (int64_t c = 0; c < width; ++c) {
        float* at = rows + (j * width + c) * kLanes;
        Vector sum = load(at);
        for (int64_t q = 0; q < kBlock; ++q)
          sum += parts[q] * load(block + (q * width + c) * kLanes);
        store(at, sum);
      }
    }
  });
}
