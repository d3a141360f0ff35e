// Attention of one sentence and head. Keys are transposed once, so that a vector holds scores of
// neighbouring keys; values and gradients are vectorized along the head dimension. Part of body.h.

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

// Transposed keys and values, three blocks of score rows; copies of the keys and of the gradients.
static int64_t attention_scratch(int64_t keys, int64_t d_k, int64_t d_v) {
  return (round_up(d_k) + round_up(d_v) + 3 * kBlock) * row_stride(keys) + keys * (2 * d_k + d_v) +
         kLanes;
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
    const int64_t count = least(kLanes, keys - j0);
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
  for (int64_t q = 0; q < kBlock; ++q) block.rows[q] = first + least(q, count - 1) * stride;
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

// out[q][c] = Σ_j weights[q][j] rows[j][c] for the block's first `count` queries.
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
    for (int64_t q = 0; q < count; ++q) store(out + q * out_stride + c0, sums[q]);
  }
  for (int64_t q = 0; q < count; ++q) {
    for (int64_t c = c0; c < width; ++c) {
      float sum = 0.0f;
      for (int64_t j = 0; j < n; ++j) sum += weights[q * padded + j] * rows[j * stride + c];
      out[q * out_stride + c] = sum;
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

// `n` weights from key `begin` on.
static void drop_weights(const AttentionHead& head, int64_t query, int64_t begin, int64_t n,
                         const float* in, float* out) {
  const DropoutHalves key =
      halves(head.dropout, head.first_index + static_cast<uint64_t>(query * head.keys + begin));
  for (int64_t j = 0; j < n; ++j) {
    out[j] = in[j] * dropout_factor(key.first + static_cast<uint32_t>(j), key.low, key.high,
                                    head.dropout.threshold, head.dropout.scale);
  }
}

static inline void clear(float* x, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; ++j) x[j] = 0.0f;
}

// Score rows are padded to whole vectors with zero weight, so that no loop has a scalar tail (most
// of the work of a short sentence).
static inline void hide_others(float* scores, const KeyRange& keys) {
  for (int64_t j = 0; j < keys.begin; ++j) scores[j] = -__builtin_inff();
  for (int64_t j = keys.end; j < round_up(keys.end); ++j) scores[j] = -__builtin_inff();
}

// Scores to weights, in place, zero outside of `keys` up to the next whole vector; returns log Σ
// exp. There is at least one key.
ATTN_APART static float softmax(float* scores, const KeyRange& keys) {
  hide_others(scores, keys);
  const int64_t whole = round_up(keys.end);
  float lanes[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) lanes[l] = scores[l];
  for (int64_t j = kLanes; j < whole; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] = max_of(scores[j + l], lanes[l]);
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] = max_of(lanes[l], lanes[l + half]);
  }
  const float largest = lanes[0];
  for (int64_t l = 0; l < kLanes; ++l) lanes[l] = 0.0f;
  for (int64_t j = 0; j < whole; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      scores[j + l] = exp_of(scores[j + l] - largest);
      lanes[l] += scores[j + l];
    }
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  const float sum = lanes[0], inverse = 1.0f / sum;
  for (int64_t j = 0; j < whole; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) scores[j + l] *= inverse;
  }
  return largest + __builtin_logf(sum);
}

static int64_t transposed_size(int64_t keys, int64_t d_k) {
  return d_k * row_stride(keys);
}

// Scores of a query to weights, in place, with dropout; zero in the rest of the block. Returns log
// Σ exp, 0 without keys.
static inline float weights_of(const AttentionHead& head, int64_t query, const KeyRange& block,
                               float* row) {
  const KeyRange own = visible_in(block, head, query);
  const float log_sum = own.end > own.begin ? softmax(row, own) : 0.0f;
  clear(row, round_up(own.end), block.end - block.begin);
  if (head.dropout.threshold != 0) drop_weights(head, query, block.begin, own.end, row, row);
  return log_sum;
}

static float attention_weights(const AttentionHead& head, int64_t query, int64_t keys,
                               float* scores) {
  return weights_of(head, query, {0, keys}, scores);
}

// `keys` transposed; `weights` holds a block of score rows; log_sum may be null.
static inline void attend(const AttentionHead& head, const float* keys, float* output,
                          int64_t output_stride, float* log_sum, float* weights) {
  const int64_t padded = row_stride(head.keys);
  const float scale = inverse_root(head.d_k);
  for (int64_t i0 = 0; i0 < head.queries; i0 += kBlock) {
    const int64_t count = least(kBlock, head.queries - i0);
    const KeyRange block = visible_to_block(head, i0, count, kLanes);
    const int64_t most = block.end - block.begin;
    const RowBlock queries =
        block_of(head.query + i0 * head.query_stride, head.query_stride, count);
    multiply(queries, scale, keys + block.begin, padded, head.d_k, most, weights);
    for (int64_t q = 0; q < count; ++q) {
      add_bias(head, i0 + q, block, weights + q * padded);
      const float sum = weights_of(head, i0 + q, block, weights + q * padded);
      if (log_sum) log_sum[i0 + q] = sum;
    }
    weighted_rows(weights, padded, head.value + block.begin * head.value_stride, head.value_stride,
                  most, head.d_v, count, output + i0 * output_stride, output_stride);
  }
}

static void attention_forward(const AttentionHead& head, float* output, int64_t output_stride,
                              float* log_sum, float* scratch) {
  transpose(head.key, head.key_stride, head.keys, head.d_k, scratch);
  float* weights = scratch + transposed_size(head.keys, head.d_k);
  AttentionHead dense = head;
  if (share_sets(head.value_stride, head.keys)) {
    float* values = weights + kBlock * row_stride(head.keys);
    copy_rows(head.value, head.value_stride, head.keys, head.d_v, values);
    dense.value = values, dense.value_stride = head.d_v;
  }
  attend(dense, scratch, output, output_stride, log_sum, weights);
}

static void attention_transposed(const AttentionHead& head, const float* transposed_keys,
                                 float* output, int64_t output_stride, float* scratch) {
  attend(head, transposed_keys, output, output_stride, nullptr, scratch);
}

// Backward of softmax and dropout for one query: gradients of the dropped weights (in `scores`) to
// gradients of the scores.
ATTN_APART static void backward_row(const AttentionHead& head, int64_t query, const KeyRange& block,
                                    float log_sum, float* weights, float* dropped, float* scores) {
  const KeyRange own = visible_in(block, head, query);
  const int64_t n = own.end, whole = round_up(n), most = block.end - block.begin;
  hide_others(weights, own);
  for (int64_t j = 0; j < whole; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      weights[j + l] = exp_of(weights[j + l] - log_sum);
      dropped[j + l] = weights[j + l];
    }
  }
  if (head.dropout.threshold != 0) {
    drop_weights(head, query, block.begin, n, weights, dropped);
    drop_weights(head, query, block.begin, n, scores, scores);
  }
  float lanes[kLanes] = {};
  for (int64_t j = 0; j < whole; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += weights[j + l] * scores[j + l];
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  const float scale = inverse_root(head.d_k), mean = lanes[0];
  for (int64_t j = 0; j < whole; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      scores[j + l] = scale * weights[j + l] * (scores[j + l] - mean);
    }
  }
  clear(scores, n, most);
  clear(dropped, n, most);
}

static void attention_score_gradients(const AttentionHead& head, int64_t query, int64_t keys,
                                      float log_sum, float* weights, float* dropped,
                                      float* scores) {
  backward_row(head, query, {0, keys}, log_sum, weights, dropped, scores);
}

static void attention_backward(const AttentionHead& head, const AttentionGradients& gradients,
                               float* scratch) {
  const int64_t padded = row_stride(head.keys);
  float* keys = scratch;
  float* values = keys + head.d_k * padded;
  float* weights = values + head.d_v * padded;
  float* dropped = weights + kBlock * padded;
  float* scores = dropped + kBlock * padded;
  transpose(head.key, head.key_stride, head.keys, head.d_k, keys);
  transpose(head.value, head.value_stride, head.keys, head.d_v, values);
  const float* key_rows = head.key;
  float *d_key = gradients.key, *d_value = gradients.value;
  int64_t key_stride = head.key_stride, value_stride = head.value_stride;
  const bool copy_keys = share_sets(key_stride, head.keys),
             copy_values = share_sets(value_stride, head.keys);
  float* copies = scores + kBlock * padded;
  if (copy_keys) {
    copy_rows(head.key, key_stride, head.keys, head.d_k, copies);
    key_rows = copies, d_key = copies + head.keys * head.d_k, key_stride = head.d_k;
    clear(d_key, 0, head.keys * head.d_k);
  }
  if (copy_values) {
    d_value = copies + 2 * head.keys * head.d_k, value_stride = head.d_v;
    clear(d_value, 0, head.keys * head.d_v);
  }
  const float scale = inverse_root(head.d_k);
  for (int64_t i0 = 0; i0 < head.queries; i0 += kBlock) {
    const int64_t count = least(kBlock, head.queries - i0);
    const KeyRange block = visible_to_block(head, i0, count, kLanes);
    const int64_t most = block.end - block.begin;
    const int64_t key_at = block.begin * key_stride, value_at = block.begin * value_stride;
    const RowBlock queries =
        block_of(head.query + i0 * head.query_stride, head.query_stride, count);
    const RowBlock d_out =
        block_of(gradients.output + i0 * gradients.output_stride, gradients.output_stride, count);
    multiply(queries, scale, keys + block.begin, padded, head.d_k, most, weights);
    multiply(d_out, 1.0f, values + block.begin, padded, head.d_v, most, scores);
    for (int64_t q = 0; q < count; ++q) {
      add_bias(head, i0 + q, block, weights + q * padded);
      backward_row(head, i0 + q, block, gradients.log_sum[i0 + q], weights + q * padded,
                   dropped + q * padded, scores + q * padded);
      add_bias_gradient(head, gradients, i0 + q, block, scores + q * padded);
    }
    for (int64_t q = count; q < kBlock; ++q) {  // missing rows add nothing
      clear(scores + q * padded, 0, most);
      clear(dropped + q * padded, 0, most);
    }
    weighted_rows(scores, padded, key_rows + key_at, key_stride, most, head.d_k, count,
                  gradients.query + i0 * head.query_stride, head.query_stride);
    add_outer(scores, padded, queries, most, head.d_k, d_key + key_at, key_stride);
    add_outer(dropped, padded, d_out, most, head.d_v, d_value + value_at, value_stride);
  }
  if (copy_keys) add_rows_to(d_key, head.keys, head.d_k, gradients.key, head.key_stride);
  if (copy_values) add_rows_to(d_value, head.keys, head.d_v, gradients.value, head.value_stride);
}
