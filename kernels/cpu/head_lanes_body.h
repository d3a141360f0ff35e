// The layout of narrow_attention_body.h: rows of heads to vectors across heads, and back.
// Part of body.h.

// Which head and slot a lane belongs to: lane l is head first + l % per_slot of slot l / per_slot.
// Lanes of heads that do not exist compute with zeros and are not written.
struct HeadLanes {
  int64_t heads;     ///< heads of the model
  int64_t per_slot;  ///< a power of two of at most kLanes
  int64_t slots;     ///< queries per vector
  int64_t first;     ///< the first head of the group
};

// Calls body with the width of a head: as a constant for the usual ones, which unrolls its loops.
template <int64_t kWidth>
struct ConstantWidth {
  static constexpr int64_t kValue = kWidth;
  constexpr operator int64_t() const { return kWidth; }
};
template <class Body>
static inline void with_width(int64_t width, Body body) {
  switch (width) {
    case 2:
      return body(ConstantWidth<2>{});
    case 4:
      return body(ConstantWidth<4>{});
    case 8:
      return body(ConstantWidth<8>{});
    default:
      return body(width);
  }
}

// The same for the lanes of a slot, of which a constant of each power of two exists.
template <int64_t kWidth = kLanes, class Body>
static inline void with_slot_width(int64_t per_slot, Body body) {
  if constexpr (kWidth == 1) {
    body(ConstantWidth<1>{});
  } else if (per_slot == kWidth) {
    body(ConstantWidth<kWidth>{});
  } else {
    with_slot_width<kWidth / 2>(per_slot, body);
  }
}

static inline HeadLanes head_lanes(int64_t heads) {
  int64_t per_slot = 1;
  while (per_slot < heads && per_slot < kLanes) per_slot *= 2;
  return {heads, per_slot, kLanes / per_slot, 0};
}

static inline int64_t heads_in(const HeadLanes& lanes) {
  return min(lanes.per_slot, lanes.heads - lanes.first);
}

// Rows have their elements head by head, vectors one element of several heads: the functions below
// reorder them element by element, those of head_shuffles_body.h by shuffles.

// A row of [heads * width] floats to `width` vectors, the same in every slot.
template <class Width>
static inline void spread_row(const HeadLanes& lanes, const float* row, Width width, float* out) {
  const int64_t present = heads_in(lanes);
  for (int64_t c = 0; c < width; ++c) {
    const float* in = row + lanes.first * width + c;
    float* vector = out + c * kLanes;
    for (int64_t h = 0; h < lanes.per_slot; ++h) vector[h] = h < present ? in[h * width] : 0.0f;
    for (int64_t l = lanes.per_slot; l < kLanes; ++l) vector[l] = vector[l - lanes.per_slot];
  }
}

static void copy_spread(const HeadLanes& lanes, const float* rows, int64_t stride, int64_t count,
                        int64_t any_width, float* out) {
  with_width(any_width, [&](auto width) {
    for (int64_t j = 0; j < count; ++j) {
      spread_row(lanes, rows + j * stride, width, out + j * width * kLanes);
    }
  });
}

// Rows [0, count) to kBlock × width vectors, a row per slot; zeros beyond `count`.
static void copy_gather(const HeadLanes& lanes, const float* rows, int64_t stride, int64_t count,
                        int64_t any_width, float* out) {
  with_width(any_width, [&](auto width) {
    const int64_t present = heads_in(lanes);
    for (int64_t slot = 0; slot < kBlock * lanes.slots; ++slot) {
      const float* in = rows + slot * stride + lanes.first * width;
      float* vectors =
          out + slot / lanes.slots * width * kLanes + slot % lanes.slots * lanes.per_slot;
      for (int64_t c = 0; c < width; ++c) {
        for (int64_t h = 0; h < lanes.per_slot; ++h) {
          vectors[c * kLanes + h] = slot < count && h < present ? in[h * width + c] : 0.0f;
        }
      }
    }
  });
}

// The inverse of copy_gather.
static void copy_scatter(const HeadLanes& lanes, const float* vectors, int64_t count,
                         int64_t any_width, float* rows, int64_t stride) {
  with_width(any_width, [&](auto width) {
    const int64_t present = heads_in(lanes);
    for (int64_t slot = 0; slot < count; ++slot) {
      const float* in =
          vectors + slot / lanes.slots * width * kLanes + slot % lanes.slots * lanes.per_slot;
      float* out = rows + slot * stride + lanes.first * width;
      for (int64_t c = 0; c < width; ++c) {
        for (int64_t h = 0; h < present; ++h) out[h * width + c] = in[c * kLanes + h];
      }
    }
  });
}

// Adds `width` vectors per row, summed over slots, to rows of [heads * width] floats.
static void copy_add(const HeadLanes& lanes, const float* vectors, int64_t count, int64_t any_width,
                     float* rows, int64_t stride) {
  with_width(any_width, [&](auto width) {
    const int64_t present = heads_in(lanes);
    for (int64_t j = 0; j < count; ++j) {
      for (int64_t c = 0; c < width; ++c) {
        const float* in = vectors + (j * width + c) * kLanes;
        float* out = rows + j * stride + lanes.first * width + c;
        for (int64_t h = 0; h < present; ++h) {
          float sum = 0.0f;
          for (int64_t s = h; s < kLanes; s += lanes.per_slot) sum += in[s];
          out[h * width] += sum;
        }
      }
    }
  });
}
