// Attention of one sentence and head. Keys are transposed once, so that a vector holds scores of
// neighbouring keys; values and gradients are vectorized along the head dimension. Part of body.h.

// Transposed keys and values, three blocks of score rows; copies of the keys and of the gradients.
static int64_t attention_scratch(int64_t keys, int64_t d_k, int64_t d_v) {
  return (round_up(d_k) + round_up(d_v) + 3 * kBlock) * row_stride(keys) + keys * (2 * d_k + d_v) +
         kLanes;
}

// `n` weights from key `begin` on.
static void drop_weights(const AttentionHead& head, int64_t query, int64_t begin, int64_t n,
                         const float* in, float* out) {
  dropout_row(in, out, n, head.dropout,
              head.first_index + static_cast<uint64_t>(query * head.keys + begin));
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
// Σ exp, 0 without keys: then `own` is empty from 0, since windows are for self-attention, where
// every query sees its own position.
static inline float weights_of(const AttentionHead& head, int64_t query, const KeyRange& block,
                               float* row) {
  const KeyRange own = visible_in(block, head, query);
  const float log_sum = own.end > own.begin ? softmax(row, own) : 0.0f;
  clear(row, round_up(own.end), block.end - block.begin);
  if (head.dropout.threshold != 0) drop_weights(head, query, block.begin, own.end, row, row);
  return log_sum;
}

// `keys` transposed; `weights` holds a block of score rows; log_sum may be null.
static inline void attend(const AttentionHead& head, const float* keys,
                          const RelativeBlock& relative, float* output, int64_t output_stride,
                          float* log_sum, float* weights) {
  const int64_t padded = row_stride(head.keys);
  const float scale = inverse_root(head.d_k);
  for (int64_t i0 = 0; i0 < head.queries; i0 += kBlock) {
    const int64_t count = min(kBlock, head.queries - i0);
    const KeyRange block = visible_to_block(head, i0, count, kLanes);
    const int64_t span = block.end - block.begin;
    const RowBlock queries =
        block_of(head.query + i0 * head.query_stride, head.query_stride, count);
    multiply(queries, scale, keys + block.begin, padded, head.d_k, span, weights);
    relative.scores_of(queries, scale);
    for (int64_t q = 0; q < count; ++q) {
      float* row = weights + q * padded;
      add_bias(head, i0 + q, block, row);
      relative.add_scores(q, i0 + q, block, row);
      const float sum = weights_of(head, i0 + q, block, row);
      if (log_sum) log_sum[i0 + q] = sum;
      relative.sum_weights(q, i0 + q, block, row);
    }
    float* out = output + i0 * output_stride;
    weighted_rows(weights, padded, head.value + block.begin * head.value_stride, head.value_stride,
                  span, head.d_v, count, out, output_stride);
    relative.add_values(count, out, output_stride);
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
  const RelativeBlock relative(head, scratch + attention_scratch(head.keys, head.d_k, head.d_v));
  attend(dense, scratch, relative, output, output_stride, log_sum, weights);
}

static void attention_transposed(const AttentionHead& head, const float* transposed_keys,
                                 float* output, int64_t output_stride, float* scratch) {
  attend(head, transposed_keys, RelativeBlock(head, nullptr), output, output_stride, nullptr,
         scratch);
}

// Backward of softmax and dropout for one query: gradients of the dropped weights (in `scores`) to
// gradients of the scores.
ATTN_APART static void backward_row(const AttentionHead& head, int64_t query, const KeyRange& block,
                                    float log_sum, float* weights, float* dropped, float* scores) {
  const KeyRange own = visible_in(block, head, query);
  const int64_t n = own.end, whole = round_up(n), span = block.end - block.begin;
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
  clear(scores, n, span);
  clear(dropped, n, span);
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
  const RelativeBlock relative(head, scratch + attention_scratch(head.keys, head.d_k, head.d_v));
  relative.transpose_values();
  const float scale = inverse_root(head.d_k);
  for (int64_t i0 = 0; i0 < head.queries; i0 += kBlock) {
    const int64_t count = min(kBlock, head.queries - i0);
    const KeyRange block = visible_to_block(head, i0, count, kLanes);
    const int64_t span = block.end - block.begin;
    const int64_t key_at = block.begin * key_stride, value_at = block.begin * value_stride;
    const RowBlock queries =
        block_of(head.query + i0 * head.query_stride, head.query_stride, count);
    const RowBlock d_out =
        block_of(gradients.output + i0 * gradients.output_stride, gradients.output_stride, count);
    multiply(queries, scale, keys + block.begin, padded, head.d_k, span, weights);
    multiply(d_out, 1.0f, values + block.begin, padded, head.d_v, span, scores);
    relative.scores_of(queries, scale);
    relative.weight_gradients_of(d_out);
    for (int64_t q = 0; q < count; ++q) {
      float *weight = weights + q * padded, *score = scores + q * padded;
      add_bias(head, i0 + q, block, weight);
      relative.add_scores(q, i0 + q, block, weight);
      relative.add_weight_gradients(q, i0 + q, block, score);
      backward_row(head, i0 + q, block, gradients.log_sum[i0 + q], weight, dropped + q * padded,
                   score);
      add_bias_gradient(head, gradients, i0 + q, block, score);
      relative.sum_scores(q, i0 + q, block, score);
      relative.sum_weights(q, i0 + q, block, dropped + q * padded);
    }
    for (int64_t q = count; q < kBlock; ++q) {  // missing rows add nothing
      clear(scores + q * padded, 0, span);
      clear(dropped + q * padded, 0, span);
    }
    weighted_rows(scores, padded, key_rows + key_at, key_stride, span, head.d_k, count,
                  gradients.query + i0 * head.query_stride, head.query_stride);
    add_outer(scores, padded, queries, span, head.d_k, d_key + key_at, key_stride);
    add_outer(dropped, padded, d_out, span, head.d_v, d_value + value_at, value_stride);
    relative.add_gradients(queries, d_out, count, gradients, i0);
  }
  if (copy_keys) add_rows_to(d_key, head.keys, head.d_k, gradients.key, head.key_stride);
  if (copy_values) add_rows_to(d_value, head.keys, head.d_v, gradients.value, head.value_stride);
}
