// Attention of one sentence and head. Keys are transposed once, so that scores of neighbouring keys sit in one vector;
// values and gradients run along the head's width. Part of body.h.

static const int64_t kLanes = 16;

static inline int64_t round_up(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// Keys and values transposed (with room to load whole vectors), two score rows, and a query row.
static int64_t attention_scratch(int64_t keys, int64_t d_k, int64_t d_v) {
  return (d_k + d_v + 3) * round_up(keys) + d_k + kLanes;
}

// [keys, width] rows to [width][padded], zero beyond the keys.
static void transpose(const float* in, int64_t stride, int64_t keys, int64_t width, float* out) {
  const int64_t padded = round_up(keys);
  for (int64_t c = 0; c < width; ++c) {
    float* row = out + c * padded;
    for (int64_t j = 0; j < keys; ++j) row[j] = in[j * stride + c];
    for (int64_t j = keys; j < padded; ++j) row[j] = 0.0f;
  }
}

// out[j] = factor Σ_c row[c] columns[c][j] for j < n rounded up to whole vectors.
static inline void multiply(const float* row, float factor, const float* columns, int64_t padded,
                            int64_t width, int64_t n, float* out) {
  for (int64_t j0 = 0; j0 < n; j0 += kLanes) {
    float sums[kLanes] = {0};
    for (int64_t c = 0; c < width; ++c) {
      const float x = row[c];
      const float* column = columns + c * padded + j0;
      for (int64_t j = 0; j < kLanes; ++j) sums[j] += x * column[j];
    }
    for (int64_t j = 0; j < kLanes; ++j) out[j0 + j] = factor * sums[j];
  }
}

static inline float sum_of(const float* x, int64_t n) {
  float sum = 0.0f;
  for (int64_t j = 0; j < n; ++j) sum += x[j];
  return sum;
}

static inline int64_t visible(const AttentionHead& head, int64_t query) {
  return head.causal && query + 1 < head.keys ? query + 1 : head.keys;
}

static void drop_weights(const AttentionHead& head, int64_t query, int64_t n, const float* in,
                         float* out) {
  const DropoutHalves key =
      halves(head.dropout, head.first_index + static_cast<uint64_t>(query * head.keys));
  for (int64_t j = 0; j < n; ++j) {
    out[j] = in[j] * dropout_factor(key.first + static_cast<uint32_t>(j), key.low, key.high,
                                    head.dropout.threshold, head.dropout.scale);
  }
}

// out[c] = Σ_j weights[j] rows[j][c], the width known to the compiler where it is a usual one.
template <int64_t kWidth>
static inline void weighted_sum(const float* weights, const float* rows, int64_t stride, int64_t n,
                                int64_t width, float* out) {
  if (kWidth > 0) {
    float sums[kWidth > 0 ? kWidth : 1] = {0};
    for (int64_t j = 0; j < n; ++j) {
      const float w = weights[j];
      const float* row = rows + j * stride;
      for (int64_t c = 0; c < kWidth; ++c) sums[c] += w * row[c];
    }
    for (int64_t c = 0; c < kWidth; ++c) out[c] = sums[c];
    return;
  }
  for (int64_t c = 0; c < width; ++c) out[c] = 0.0f;
  for (int64_t j = 0; j < n; ++j) {
    const float w = weights[j];
    const float* row = rows + j * stride;
    for (int64_t c = 0; c < width; ++c) out[c] += w * row[c];
  }
}

static inline void weighted_rows(const float* weights, const float* rows, int64_t stride, int64_t n,
                                 int64_t width, float* out) {
  switch (width) {
    case 16: return weighted_sum<16>(weights, rows, stride, n, width, out);
    case 32: return weighted_sum<32>(weights, rows, stride, n, width, out);
    case 64: return weighted_sum<64>(weights, rows, stride, n, width, out);
    default: return weighted_sum<0>(weights, rows, stride, n, width, out);
  }
}

// rows[j][c] += weights[j] row[c]
template <int64_t kWidth>
static inline void add_outer(const float* weights, const float* row, int64_t n, int64_t width,
                             float* rows, int64_t stride) {
  const int64_t columns = kWidth > 0 ? kWidth : width;
  for (int64_t j = 0; j < n; ++j) {
    const float w = weights[j];
    float* out = rows + j * stride;
    for (int64_t c = 0; c < columns; ++c) out[c] += w * row[c];
  }
}

static inline void add_outer_rows(const float* weights, const float* row, int64_t n, int64_t width,
                                  float* rows, int64_t stride) {
  switch (width) {
    case 16: return add_outer<16>(weights, row, n, width, rows, stride);
    case 32: return add_outer<32>(weights, row, n, width, rows, stride);
    case 64: return add_outer<64>(weights, row, n, width, rows, stride);
    default: return add_outer<0>(weights, row, n, width, rows, stride);
  }
}

static inline float inverse_root(int64_t d_k) {
  return 1.0f / __builtin_sqrtf(static_cast<float>(d_k));
}

static void attention_forward(const AttentionHead& head, float* output, int64_t output_stride,
                              float* log_sum, float* scratch) {
  const int64_t padded = round_up(head.keys);
  float* keys = scratch;
  float* weights = keys + head.d_k * padded;
  transpose(head.key, head.key_stride, head.keys, head.d_k, keys);
  const float scale = inverse_root(head.d_k);
  for (int64_t i = 0; i < head.queries; ++i) {
    const int64_t n = visible(head, i);
    float* out = output + i * output_stride;
    if (n == 0) {
      for (int64_t c = 0; c < head.d_v; ++c) out[c] = 0.0f;
      log_sum[i] = 0.0f;
      continue;
    }
    multiply(head.query + i * head.query_stride, scale, keys, padded, head.d_k, n, weights);
    const float largest = largest_of(weights, n);
    for (int64_t j = 0; j < n; ++j) weights[j] = exp_of(weights[j] - largest);
    const float sum = sum_of(weights, n);
    log_sum[i] = largest + __builtin_logf(sum);
    const float inverse = 1.0f / sum;
    for (int64_t j = 0; j < n; ++j) weights[j] *= inverse;
    if (head.dropout.threshold != 0) drop_weights(head, i, n, weights, weights);
    weighted_rows(weights, head.value, head.value_stride, n, head.d_v, out);
  }
}

static void attention_backward(const AttentionHead& head, const AttentionGradients& gradients,
                               float* scratch) {
  const int64_t padded = round_up(head.keys);
  float* keys = scratch;
  float* values = keys + head.d_k * padded;
  float* weights = values + head.d_v * padded;
  float* dropped = weights + padded;
  float* scores = dropped + padded;  // gradients of the scores
  transpose(head.key, head.key_stride, head.keys, head.d_k, keys);
  transpose(head.value, head.value_stride, head.keys, head.d_v, values);
  const float scale = inverse_root(head.d_k);
  for (int64_t i = 0; i < head.queries; ++i) {
    const int64_t n = visible(head, i);
    const float* query = head.query + i * head.query_stride;
    float* d_query = gradients.query + i * head.query_stride;
    if (n == 0) {
      for (int64_t c = 0; c < head.d_k; ++c) d_query[c] = 0.0f;
      continue;
    }
    const float* d_out = gradients.output + i * gradients.output_stride;
    multiply(query, scale, keys, padded, head.d_k, n, weights);
    const float log_sum = gradients.log_sum[i];
    for (int64_t j = 0; j < n; ++j) weights[j] = exp_of(weights[j] - log_sum);
    multiply(d_out, 1.0f, values, padded, head.d_v, n, scores);
    const float* kept = weights;
    if (head.dropout.threshold != 0) {
      drop_weights(head, i, n, weights, dropped);
      drop_weights(head, i, n, scores, scores);
      kept = dropped;
    }
    float mean = 0.0f;
    for (int64_t j = 0; j < n; ++j) mean += weights[j] * scores[j];
    for (int64_t j = 0; j < n; ++j) scores[j] = scale * weights[j] * (scores[j] - mean);
    weighted_rows(scores, head.key, head.key_stride, n, head.d_k, d_query);
    add_outer_rows(scores, query, n, head.d_k, gradients.key, head.key_stride);
    add_outer_rows(kept, d_out, n, head.d_v, gradients.value, head.value_stride);
  }
}

// All heads of one row of search; scratch holds one weight per earlier position.
static void step_attention(const StepRow& row, float* output, float* weights) {
  const float scale = inverse_root(row.d_k);
  for (int64_t h = 0; h < row.heads; ++h) {
    const float* query = row.query + h * row.d_k;
    float largest = -3.0e38f;
    for (int64_t t = 0; t < row.steps; ++t) {
      const float* key = row.keys[t] + row.rows[t] * row.key_stride + h * row.d_k;
      float dot = 0.0f;
      for (int64_t c = 0; c < row.d_k; ++c) dot += query[c] * key[c];
      weights[t] = dot * scale;
      largest = max_of(largest, weights[t]);
    }
    for (int64_t t = 0; t < row.steps; ++t) weights[t] = exp_of(weights[t] - largest);
    const float inverse = 1.0f / sum_of(weights, row.steps);
    float* out = output + h * row.d_v;
    for (int64_t c = 0; c < row.d_v; ++c) out[c] = 0.0f;
    for (int64_t t = 0; t < row.steps; ++t) {
      const float* value = row.values[t] + row.rows[t] * row.value_stride + h * row.d_v;
      const float w = weights[t] * inverse;
      for (int64_t c = 0; c < row.d_v; ++c) out[c] += w * value[c];
    }
  }
}
