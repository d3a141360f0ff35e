// Rows of heads to vectors across heads and back by shuffles, several times as fast as element by
// element. Part of body.h.

// Whether shuffles of one or two registers exist: with GCC on AVX2 and later. Elsewhere a shuffle
// would be compiled into loads and stores of single elements.
#if defined(__AVX2__) && !defined(__clang__)
static const bool kShuffles = true;
#else
static const bool kShuffles = false;
#endif

// Whether a group's part of a row is 1, 2, 4 or 8 whole vectors.
static inline bool whole_vectors(const HeadLanes& lanes, int64_t width) {
  return kShuffles && (width == 2 || width == 4 || width == 8) &&
         heads_in(lanes) == lanes.per_slot && lanes.per_slot * width % kLanes == 0;
}

static inline Vector shuffle(Vector a, Vector b, Lanes index) {
#ifdef __clang__  // not called: it has no variable shuffle
  Vector out;
  for (int64_t l = 0; l < kLanes; ++l) {
    const int32_t i = index[l] % (2 * kLanes);
    out[l] = i < kLanes ? a[i] : b[i - kLanes];
  }
  return out;
#else
  return __builtin_shuffle(a, b, index);
#endif
}

// Lane l is element index[l] of `kCount` vectors end to end; higher bits of an index are ignored.
template <int64_t kCount>
static inline Vector select(const Vector* from, Lanes index) {
  if constexpr (kCount == 1) {
    return shuffle(from[0], from[0], index);
  } else if constexpr (kCount == 2) {
    return shuffle(from[0], from[1], index);
  } else {
    const Vector low = select<kCount / 2>(from, index);
    const Vector high = select<kCount / 2>(from + kCount / 2, index);
    return (index & static_cast<int32_t>(kCount / 2 * kLanes)) != 0 ? high : low;
  }
}

// Calls body with 1, 2, 4 or 8 as a constant.
template <class Body>
static inline void with_count(int64_t count, Body body) {
  if (count == 1) body(ConstantWidth<1>{});
  if (count == 2) body(ConstantWidth<2>{});
  if (count == 4) body(ConstantWidth<4>{});
  if (count == 8) body(ConstantWidth<8>{});
}

// Calls body(vectors of a row, width), both constants.
template <class Body>
static inline void with_vectors(const HeadLanes& lanes, int64_t any_width, Body body) {
  with_count(any_width, [&](auto width) {
    with_count(lanes.per_slot * width / kLanes, [&](auto count) { body(count, width); });
  });
}

template <int64_t kCount>
static inline void load_vectors(const float* from, Vector* to) {
  for (int64_t v = 0; v < kCount; ++v) to[v] = load(from + v * kLanes);
}

// The element of `width` vectors end to end that is element l of a row's first vector and slot.
static inline Lanes row_order(int64_t width) {
  Lanes order = {};
  for (int64_t l = 0; l < kLanes; ++l) {
    order[l] = static_cast<int32_t>(l % width * kLanes + l / width);
  }
  return order;
}

// Rows of [heads * width] floats to `width` vectors each, the same in every slot.
static void spread_rows(const HeadLanes& lanes, const float* rows, int64_t stride, int64_t count,
                        int64_t any_width, float* out) {
  if (!whole_vectors(lanes, any_width))
    return copy_spread(lanes, rows, stride, count, any_width, out);
  const float* in = rows + lanes.first * any_width;
  Lanes order = {};
  for (int64_t l = 0; l < kLanes; ++l) {
    order[l] = static_cast<int32_t>(l % lanes.per_slot * any_width);
  }
  with_vectors(lanes, any_width, [&](auto vectors, auto width) {
    constexpr int64_t kVectors = decltype(vectors)::kValue, kWidth = decltype(width)::kValue;
    for (int64_t j = 0; j < count; ++j) {
      Vector row[kVectors];
      load_vectors<kVectors>(in + j * stride, row);
      for (int32_t c = 0; c < kWidth; ++c) {
        store(out + (j * kWidth + c) * kLanes, select<kVectors>(row, order + c));
      }
    }
  });
}

// Rows [0, count) to kBlock × width vectors, a row per slot; zeros beyond `count`.
static void gather_rows(const HeadLanes& lanes, const float* rows, int64_t stride, int64_t count,
                        int64_t any_width, float* out) {
  if (!whole_vectors(lanes, any_width))
    return copy_gather(lanes, rows, stride, count, any_width, out);
  const float* in = rows + lanes.first * any_width;
  Lanes order = {};
  for (int64_t l = 0; l < kLanes; ++l) order[l] = static_cast<int32_t>(l * any_width);
  with_vectors(lanes, any_width, [&](auto vectors, auto width) {
    constexpr int64_t kVectors = decltype(vectors)::kValue, kWidth = decltype(width)::kValue;
    for (int64_t q = 0; q < kBlock; ++q) {
      Vector all[kWidth] = {};
      for (int64_t s = 0; s < kWidth / kVectors && q * lanes.slots + s < count; ++s) {
        load_vectors<kVectors>(in + (q * lanes.slots + s) * stride, all + s * kVectors);
      }
      for (int32_t c = 0; c < kWidth; ++c) {
        store(out + (q * kWidth + c) * kLanes, select<kWidth>(all, order + c));
      }
    }
  });
}

// The inverse of gather_rows.
static void scatter_rows(const HeadLanes& lanes, const float* vectors, int64_t count,
                         int64_t any_width, float* rows, int64_t stride) {
  if (!whole_vectors(lanes, any_width))
    return copy_scatter(lanes, vectors, count, any_width, rows, stride);
  float* out = rows + lanes.first * any_width;
  const Lanes order = row_order(any_width);
  with_vectors(lanes, any_width, [&](auto of_row, auto width) {
    constexpr int64_t kVectors = decltype(of_row)::kValue, kWidth = decltype(width)::kValue;
    for (int64_t slot = 0; slot < count; ++slot) {
      Vector all[kWidth];
      load_vectors<kWidth>(vectors + slot / lanes.slots * kWidth * kLanes, all);
      const auto lane = static_cast<int32_t>(slot % lanes.slots * lanes.per_slot);
      for (int32_t v = 0; v < kVectors; ++v) {
        store(out + slot * stride + v * kLanes,
              select<kWidth>(all, order + (lane + v * static_cast<int32_t>(kLanes / kWidth))));
      }
    }
  });
}

// Adds `width` vectors per row, summed over slots, to rows of [heads * width] floats.
static void add_slots(const HeadLanes& lanes, const float* vectors, int64_t count,
                      int64_t any_width, float* rows, int64_t stride) {
  if (!whole_vectors(lanes, any_width))
    return copy_add(lanes, vectors, count, any_width, rows, stride);
  float* out = rows + lanes.first * any_width;
  const Lanes order = row_order(any_width);
  Lanes lane = {};
  for (int64_t l = 0; l < kLanes; ++l) lane[l] = static_cast<int32_t>(l);
  with_vectors(lanes, any_width, [&](auto of_row, auto width) {
    constexpr int64_t kVectors = decltype(of_row)::kValue, kWidth = decltype(width)::kValue;
    for (int64_t j = 0; j < count; ++j) {
      Vector all[kWidth];
      load_vectors<kWidth>(vectors + j * kWidth * kLanes, all);
      // The sum over slots, in each of them.
      for (int64_t s = lanes.per_slot; s < kLanes; s *= 2) {
        for (Vector& x : all) x += shuffle(x, x, lane + static_cast<int32_t>(s));
      }
      for (int32_t v = 0; v < kVectors; ++v) {
        float* at = out + j * stride + v * kLanes;
        store(at,
              load(at) + select<kWidth>(all, order + v * static_cast<int32_t>(kLanes / kWidth)));
      }
    }
  });
}
