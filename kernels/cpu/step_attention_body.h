// Attention of rows of a decoding step over their KV cache. Part of body.h.

// Rows at a time: hypotheses of a sentence share most of their past, whose keys and values are then
// read once from L2 for all of them.
static const int64_t kStepRows = 4;
// Vectors of columns at a time, so that the sums of all rows fit into registers.
#ifdef __AVX512F__
static const int kValueVectors = 4;
#else
static const int kValueVectors = 2;
#endif

static int64_t step_attention_scratch(int64_t heads, int64_t steps, int64_t clip) {
  return kStepRows * heads * round_up(steps) + clip + 1;
}

// Σ_c a[c] b[c]
static inline float dot_of(const float* a, const float* b, int64_t n) {
  float sum = 0.0f;
  for (int64_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

// weights[r][h][t] = query · key / √d_k, padded to whole vectors of t. Positions are the outer
// loop, since a row of the cache holds the keys of all heads.
ATTN_APART static void step_scores(const CachedRows& step, int64_t first, int64_t count,
                                   float* weights) {
  const float scale = inverse_root(step.d_k);
  const int64_t group = step.heads / step.kv_heads, padded = round_up(step.steps);
  for (int64_t t = 0; t < step.steps; ++t) {
    for (int64_t r = 0; r < count; ++r) {
      const float* key = step.keys[t] + step.rows[first + r][t] * step.key_stride;
      const float* query = step.query + (first + r) * step.query_stride;
      float* weight = weights + r * step.heads * padded + t;
      for (int64_t kv = 0; kv < step.kv_heads; ++kv, key += step.d_k) {
        for (int64_t g = 0; g < group; ++g, query += step.d_k, weight += padded) {
          *weight = dot_of(query, key, step.d_k) * scale;
        }
      }
    }
  }
}

static inline void add_step_bias(const CachedRows& step, int64_t count, float* weights) {
  if (step.bias == nullptr) return;
  const int64_t padded = round_up(step.steps);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t h = 0; h < step.heads; ++h) {
      float* row = weights + (r * step.heads + h) * padded;
      const float* bias = step.bias + h * step.bias_stride;
      for (int64_t t = 0; t < step.steps; ++t) row[t] += bias[t];
    }
  }
}

// The positions by row of a^K (relative_body.h): the last row is that of the last position.
static inline Distances step_distances(const CachedRows& step) {
  const int64_t shift = step.relative.clip + 1 - step.steps;
  return {shift, -shift, step.steps, step.steps, step.relative.clip};
}

// Adds the scores of a^K to those of positions.
ATTN_APART static void add_relative_scores(const CachedRows& step, int64_t first, int64_t count,
                                           float* of_distance, float* weights) {
  const RelativeRows& relative = step.relative;
  if (relative.key == nullptr) return;
  const float scale = inverse_root(step.d_k);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t h = 0; h < step.heads; ++h, weights += round_up(step.steps)) {
      const float* query = step.query + (first + r) * step.query_stride + h * step.d_k;
      const float* key = relative.key + h * step.d_k;
      for (int64_t d = 0; d <= relative.clip; ++d, key += relative.key_stride) {
        of_distance[d] = dot_of(query, key, step.d_k) * scale;
      }
      add_by_distance(step_distances(step), of_distance, weights);
    }
  }
}

// Adds a^V, weighed by the sums of the weights of positions, to the output.
ATTN_APART static void add_relative_values(const CachedRows& step, int64_t count,
                                           const float* weights, float* of_distance,
                                           float* output) {
  const RelativeRows& relative = step.relative;
  if (relative.key == nullptr) return;
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t h = 0; h < step.heads; ++h, weights += round_up(step.steps), output += step.d_v) {
      sum_by_distance(step_distances(step), weights, of_distance);
      const float* value = relative.value + h * step.d_v;
      for (int64_t d = 0; d <= relative.clip; ++d, value += relative.value_stride) {
        for (int64_t c = 0; c < step.d_v; ++c) output[c] += of_distance[d] * value[c];
      }
    }
  }
}

// out[r][c] = Σ_t weights[r][t] values[t][c] for V vectors of columns from `column` on.
template <int V>
ATTN_APART static void weigh_values(const CachedRows& step, int64_t first, int64_t count,
                                    const float* weights, int64_t column, float* out) {
  const int32_t* rows[kStepRows];
  const float* of_row[kStepRows];
  for (int64_t r = 0; r < kStepRows; ++r) {  // rows beyond `count` repeat the last one
    rows[r] = step.rows[first + min(r, count - 1)];
    of_row[r] = weights + min(r, count - 1) * step.heads * round_up(step.steps);
  }
  Vector sums[kStepRows][V] = {};
  for (int64_t t = 0; t < step.steps; ++t) {
    for (int64_t r = 0; r < kStepRows; ++r) {
      const float* value = step.values[t] + rows[r][t] * step.value_stride + column;
      for (int v = 0; v < V; ++v) sums[r][v] += of_row[r][t] * load(value + v * kLanes);
    }
  }
  for (int64_t r = 0; r < count; ++r) {
    for (int v = 0; v < V; ++v) store(out + r * step.heads * step.d_v + v * kLanes, sums[r][v]);
  }
}

static void step_attention(const CachedRows& step, float* output, float* weights) {
  const int64_t group = step.heads / step.kv_heads, padded = round_up(step.steps);
  float* of_distance = weights + kStepRows * step.heads * padded;
  for (int64_t first = 0; first < step.count; first += kStepRows) {
    const int64_t count = min(kStepRows, step.count - first);
    step_scores(step, first, count, weights);
    add_step_bias(step, count, weights);
    add_relative_scores(step, first, count, of_distance, weights);
    for (int64_t i = 0; i < count * step.heads; ++i) softmax(weights + i * padded, {0, step.steps});
    for (int64_t h = 0; h < step.heads; ++h) {
      const float* of_head = weights + h * padded;
      const int64_t column = h / group * step.d_v;
      float* out = output + first * step.heads * step.d_v + h * step.d_v;
      int64_t c = 0;
      for (; c + kValueVectors * kLanes <= step.d_v; c += kValueVectors * kLanes) {
        weigh_values<kValueVectors>(step, first, count, of_head, column + c, out + c);
      }
      for (; c + kLanes <= step.d_v; c += kLanes) {
        weigh_values<1>(step, first, count, of_head, column + c, out + c);
      }
      for (int64_t r = 0; r < count; ++r) {
        for (int64_t rest = c; rest < step.d_v; ++rest) {
          float sum = 0.0f;
          for (int64_t t = 0; t < step.steps; ++t) {
            sum += of_head[r * step.heads * padded + t] *
                   step.values[t][step.rows[first + r][t] * step.value_stride + column + rest];
          }
          out[r * step.heads * step.d_v + rest] = sum;
        }
      }
    }
    add_relative_values(step, count, weights, of_distance, output + first * step.heads * step.d_v);
  }
}
