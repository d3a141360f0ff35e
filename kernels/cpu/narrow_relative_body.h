// Relative positions of narrow_attention_body.h: as relative_body.h, by lane. Rows are vectors
// across heads; the row of a key differs between the slots of a vector of queries. Part of body.h.

// Scratch of NarrowRelative: a^K, a^V, their gradients, and two blocks of rows by distance.
static int64_t narrow_relative_scratch(int64_t clip, int64_t d_k, int64_t d_v) {
  return (2 * clip + 1) * (2 * (d_k + d_v) + 2 * kBlock) * kLanes;
}

// Calls work(key, row) with the lanes of a slot of `scores` and of the row of a^K or a^V, for each
// key of a block and slot of a vector of queries, the first of which is `query`.
template <class Work>
static inline void for_each_distance(const HeadLanes& lanes, const AttentionHead& sentence,
                                     int64_t query, const KeyRange& block, Work work) {
  const auto slots = [&](auto width) {
    for (int64_t slot = 0; slot < lanes.slots; ++slot) {
      const Distances keys = distances_of(sentence, query + slot, block);
      const auto key_of_row = [&](int64_t j, int64_t row) {
        work(width, j * kLanes + slot * width, row * kLanes + slot * width);
      };
      for (int64_t j = 0; j < keys.near; ++j) key_of_row(j, 0);
      for (int64_t j = keys.near; j < keys.far; ++j) key_of_row(j, j + keys.shift);
      for (int64_t j = keys.far; j < keys.end; ++j) key_of_row(j, keys.last);
    }
  };
  with_slot_width(lanes.per_slot, slots);
}

// out += in. All loads come before the stores, so that they become one vector.
template <class Width>
static inline void add_lanes(Width width, const float* in, float* out) {
  float sums[Width::kValue];
  for (int64_t h = 0; h < width; ++h) sums[h] = out[h] + in[h];
  for (int64_t h = 0; h < width; ++h) out[h] = sums[h];
}

// The terms of relative positions of a group of heads; its functions do nothing for a sentence
// without them. `q` counts vectors of queries from the first of the block, `query` queries from
// that of the sentence.
class NarrowRelative {
 public:
  NarrowRelative(const AttentionHead& sentence, float* scratch)
      : sentence_(sentence), count_(distance_count(sentence)) {
    const int64_t key_size = count_ * sentence.d_k * kLanes;
    const int64_t value_size = count_ * sentence.d_v * kLanes;
    keys_ = scratch;
    values_ = keys_ + key_size;
    d_keys_ = values_ + value_size;
    d_values_ = d_keys_ + key_size;
    scores_ = d_values_ + value_size;
    weights_ = scores_ + kBlock * count_ * kLanes;
  }

  // To be called first for each group of heads.
  void spread(const HeadLanes& lanes) const {
    if (count_ == 0) return;
    const RelativeRows& rows = sentence_.relative;
    spread_rows(lanes, rows.key, rows.key_stride, count_, sentence_.d_k, keys_);
    spread_rows(lanes, rows.value, rows.value_stride, count_, sentence_.d_v, values_);
  }
  void clear_gradients() const {
    clear(d_keys_, 0, count_ * (sentence_.d_k + sentence_.d_v) * kLanes);
  }

  void scores_of(const float* queries, float scale) const {
    if (count_ == 0) return;
    lane_products(queries, scale, keys_, sentence_.d_k, count_, count_, scores_);
  }
  void add_scores(const HeadLanes& lanes, int64_t q, int64_t query, const KeyRange& keys,
                  float* scores) const {
    if (count_ == 0) return;
    add(lanes, query, keys, row(scores_, q), scores);
  }
  void sum_weights(const HeadLanes& lanes, int64_t q, int64_t query, const KeyRange& keys,
                   const float* weights) const {
    if (count_ == 0) return;
    sum(lanes, query, keys, weights, row(weights_, q));
  }
  void add_values(float* outputs) const {
    if (count_ == 0) return;
    lane_sums<true>(weights_, values_, sentence_.d_v, count_, count_, outputs);
  }

  void weight_gradients_of(const float* d_outputs) const {
    if (count_ == 0) return;
    lane_products(d_outputs, 1.0f, values_, sentence_.d_v, count_, count_, weights_);
  }
  void add_weight_gradients(const HeadLanes& lanes, int64_t q, int64_t query, const KeyRange& keys,
                            float* gradients) const {
    if (count_ == 0) return;
    add(lanes, query, keys, row(weights_, q), gradients);
  }
  void sum_scores(const HeadLanes& lanes, int64_t q, int64_t query, const KeyRange& keys,
                  const float* gradients) const {
    if (count_ == 0) return;
    sum(lanes, query, keys, gradients, row(scores_, q));
  }
  // A vector of queries beyond the last adds nothing.
  void clear_row(int64_t q) const {
    clear(row(scores_, q), 0, count_ * kLanes);
    clear(row(weights_, q), 0, count_ * kLanes);
  }
  void add_gradients(const float* queries, const float* d_outputs, float* d_queries) const {
    if (count_ == 0) return;
    lane_sums<true>(scores_, keys_, sentence_.d_k, count_, count_, d_queries);
    lane_outer(scores_, queries, sentence_.d_k, count_, count_, d_keys_);
    lane_outer(weights_, d_outputs, sentence_.d_v, count_, count_, d_values_);
  }
  // To be called last for each group of heads.
  void add_to(const HeadLanes& lanes, const AttentionGradients& gradients) const {
    if (count_ == 0) return;
    const RelativeRows& rows = sentence_.relative;
    add_slots(lanes, d_keys_, count_, sentence_.d_k, gradients.relative_key, rows.key_stride);
    add_slots(lanes, d_values_, count_, sentence_.d_v, gradients.relative_value, rows.value_stride);
  }

 private:
  float* row(float* block, int64_t q) const { return block + q * count_ * kLanes; }
  void add(const HeadLanes& lanes, int64_t query, const KeyRange& keys, const float* of_distance,
           float* scores) const {
    for_each_distance(lanes, sentence_, query, keys, [&](auto width, int64_t key, int64_t row) {
      add_lanes(width, of_distance + row, scores + key);
    });
  }
  void sum(const HeadLanes& lanes, int64_t query, const KeyRange& keys, const float* weights,
           float* of_distance) const {
    clear(of_distance, 0, count_ * kLanes);
    for_each_distance(lanes, sentence_, query, keys, [&](auto width, int64_t key, int64_t row) {
      add_lanes(width, weights + key, of_distance + row);
    });
  }

  const AttentionHead& sentence_;
  int64_t count_;
  float *keys_, *values_, *d_keys_, *d_values_, *scores_, *weights_;
};
