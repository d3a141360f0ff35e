// Relative positions (Shaw et al. 2018): a^K and a^V of a distance act as one more key and value.
// The score of a^K is added to those of all keys at this distance, the weight of a^V is the sum of
// theirs. Part of body.h.

// How many rows of a^K and a^V a head has: from distance -clip to clip, or to 0 if causal.
static inline int64_t distance_count(const AttentionHead& head) {
  if (head.relative.key == nullptr) return 0;
  return (head.causal ? 1 : 2) * head.relative.clip + 1;
}

// The keys of a block by row of a^K for one query: keys [0, near) are clipped to row 0, [far, end)
// to row `last`; key j in between has row j + shift.
struct Distances {
  int64_t shift, near, far, end, last;
};
static inline Distances distances_of(const AttentionHead& head, int64_t query,
                                     const KeyRange& block) {
  const int64_t shift = block.begin - query + head.relative.clip;
  const int64_t end = block.end - block.begin, last = distance_count(head) - 1;
  const int64_t near = shift < 0 ? min(-shift, end) : 0;
  const int64_t far = last > shift ? min(last - shift, end) : 0;
  return {shift, near, far, end, last};
}

// scores[j] += of_distance[row of key j]
static inline void add_by_distance(const Distances& keys, const float* of_distance, float* scores) {
  for (int64_t j = 0; j < keys.near; ++j) scores[j] += of_distance[0];
  for (int64_t j = keys.near; j < keys.far; ++j) scores[j] += of_distance[j + keys.shift];
  for (int64_t j = keys.far; j < keys.end; ++j) scores[j] += of_distance[keys.last];
}

// of_distance[row] = Σ weights[j] over the keys of this row
static inline void sum_by_distance(const Distances& keys, const float* weights,
                                   float* of_distance) {
  for (int64_t row = 0; row <= keys.last; ++row) of_distance[row] = 0.0f;
  for (int64_t j = keys.near; j < keys.far; ++j) of_distance[j + keys.shift] = weights[j];
  for (int64_t j = 0; j < keys.near; ++j) of_distance[0] += weights[j];
  for (int64_t j = keys.far; j < keys.end; ++j) of_distance[keys.last] += weights[j];
}

// Scratch of RelativeBlock: transposed a^K and a^V, and two blocks of rows by distance.
static int64_t relative_scratch(int64_t clip, int64_t d_k, int64_t d_v) {
  return (round_up(d_k) + round_up(d_v) + 2 * kBlock) * row_stride(2 * clip + 1);
}

// The terms of relative positions of a block of queries of one head; its functions do nothing for a
// head without them. `q` counts queries from the first of the block, `query` from that of the
// sentence.
class RelativeBlock {
 public:
  RelativeBlock(const AttentionHead& head, float* scratch)
      : head_(head), count_(distance_count(head)), stride_(row_stride(count_)) {
    if (count_ == 0) return;
    const RelativeRows& rows = head.relative;
    keys_ = scratch;
    values_ = keys_ + round_up(head.d_k) * stride_;
    scores_ = values_ + round_up(head.d_v) * stride_;
    weights_ = scores_ + kBlock * stride_;
    transpose(rows.key, rows.key_stride, count_, head.d_k, keys_);
  }

  // Forward: adds q · a^K / √d_k to the scores of the keys at each distance, then sums their
  // weights by distance and adds the weighted a^V to the output.
  void scores_of(const RowBlock& queries, float scale) const {
    if (count_ == 0) return;
    multiply(queries, scale, keys_, stride_, head_.d_k, count_, scores_);
  }
  void add_scores(int64_t q, int64_t query, const KeyRange& keys, float* scores) const {
    if (count_ == 0) return;
    add_by_distance(distances_of(head_, query, keys), scores_ + q * stride_, scores);
  }
  void sum_weights(int64_t q, int64_t query, const KeyRange& keys, const float* weights) const {
    if (count_ == 0) return;
    sum_by_distance(distances_of(head_, query, keys), weights, weights_ + q * stride_);
  }
  void add_values(int64_t count, float* output, int64_t output_stride) const {
    if (count_ == 0) return;
    weighted_rows<true>(weights_, stride_, head_.relative.value, head_.relative.value_stride,
                        count_, head_.d_v, count, output, output_stride);
  }

  // Backward: adds dO · a^V to the gradients of the weights of the keys at each distance, then sums
  // the gradients of their scores by distance. add_weight_gradients must precede sum_weights, which
  // overwrites its row.
  void transpose_values() const {  // once, before the others
    const RelativeRows& rows = head_.relative;
    transpose(rows.value, rows.value_stride, count_, head_.d_v, values_);
  }
  void weight_gradients_of(const RowBlock& d_out) const {
    if (count_ == 0) return;
    multiply(d_out, 1.0f, values_, stride_, head_.d_v, count_, weights_);
  }
  void add_weight_gradients(int64_t q, int64_t query, const KeyRange& keys,
                            float* gradients) const {
    if (count_ == 0) return;
    add_by_distance(distances_of(head_, query, keys), weights_ + q * stride_, gradients);
  }
  void sum_scores(int64_t q, int64_t query, const KeyRange& keys, const float* gradients) const {
    if (count_ == 0) return;
    sum_by_distance(distances_of(head_, query, keys), gradients, scores_ + q * stride_);
  }
  void add_gradients(const RowBlock& queries, const RowBlock& d_out, int64_t count,
                     const AttentionGradients& gradients, int64_t first) const {
    if (count_ == 0) return;
    const RelativeRows& rows = head_.relative;
    clear(scores_, count * stride_, kBlock * stride_);  // missing rows add nothing
    clear(weights_, count * stride_, kBlock * stride_);
    weighted_rows<true>(scores_, stride_, rows.key, rows.key_stride, count_, head_.d_k, count,
                        gradients.query + first * head_.query_stride, head_.query_stride);
    add_outer(scores_, stride_, queries, count_, head_.d_k, gradients.relative_key,
              rows.key_stride);
    add_outer(weights_, stride_, d_out, count_, head_.d_v, gradients.relative_value,
              rows.value_stride);
  }

 private:
  const AttentionHead& head_;
  int64_t count_, stride_;
  float *keys_ = nullptr, *values_ = nullptr, *scores_ = nullptr, *weights_ = nullptr;
};
