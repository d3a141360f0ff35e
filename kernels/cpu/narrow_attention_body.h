// Attention of one sentence with narrow heads: a vector holds one value of several heads, so that
// nothing is reduced within a vector. Fewer than kLanes heads share it with those of neighbouring
// queries ("slots", head_lanes_body.h). Part of body.h.

// Vectors of the biases of a sentence, one for each distance of self-attention.
static inline int64_t bias_vectors(int64_t keys) {
  return 2 * keys;
}

// The biases and their gradients, keys and values, their gradients, blocks of queries, their
// gradients and outputs, and three blocks of weights, all in vectors.
static int64_t narrow_attention_scratch(int64_t keys, int64_t d_k, int64_t d_v) {
  return (2 * bias_vectors(keys) + 2 * keys * (d_k + d_v) + kBlock * (2 * d_k + d_v) +
          3 * kBlock * keys) *
         kLanes;
}

// Calls work(head, distance, element) for the biases of a group of heads, in vectors. Vector t
// holds in slot s the bias of distance t - (queries - 1) - s: that of query i + s and key j, where
// t is j - i + queries - 1.
template <class Work>
static inline void for_each_bias(const HeadLanes& lanes, const AttentionHead& sentence, Work work) {
  const int64_t lowest = 1 - sentence.queries, count = sentence.queries + sentence.keys - 1;
  for (int64_t slot = 0; slot < lanes.slots; ++slot) {
    for (int64_t h = 0; h < heads_in(lanes); ++h) {
      const int64_t lane = slot * lanes.per_slot + h;
      for (int64_t t = slot; t < count; ++t) {
        work(lanes.first + h, t + lowest - slot, t * kLanes + lane);
      }
    }
  }
}

static inline void spread_bias(const HeadLanes& lanes, const AttentionHead& sentence, float* out) {
  if (sentence.bias == nullptr) return;
  clear(out, 0, (sentence.queries + sentence.keys - 1) * kLanes);
  for_each_bias(lanes, sentence, [&](int64_t head, int64_t distance, int64_t at) {
    out[at] = sentence.bias[head * sentence.bias_stride + distance];
  });
}

// Where the biases of a vector of queries, the first of which is `query`, and the block's first key
// are.
static inline int64_t bias_at(const AttentionHead& sentence, int64_t query, const KeyRange& block) {
  return (block.begin - query + sentence.queries - 1) * kLanes;
}

// Adds the biases to the scores of a vector of queries, which begin at the block's first key.
static inline void add_bias_lanes(const AttentionHead& sentence, int64_t query,
                                  const KeyRange& block, const float* biases, float* scores) {
  if (sentence.bias == nullptr) return;
  const float* bias = biases + bias_at(sentence, query, block);
  for (int64_t j = 0; j < (block.end - block.begin) * kLanes; ++j) scores[j] += bias[j];
}

// One vector of queries: what its lanes may see, and their dropout counters. Keys count from the
// first one of the block.
struct QueryLanes {
  int64_t keys;                    ///< visible to the last slot
  int32_t begin[16], visible[16];  ///< keys that a lane may see
  uint32_t low[16], first[16], high;
};

static QueryLanes query_lanes(const AttentionHead& sentence, const uint64_t* first_index,
                              const HeadLanes& lanes, int64_t query, const KeyRange& block) {
  QueryLanes out;
  out.high = 0;
  const int64_t present = heads_in(lanes);
  for (int64_t l = 0; l < kLanes; ++l) {
    const int64_t i = min(query + l / lanes.per_slot, sentence.queries - 1);
    const int64_t h = min(l % lanes.per_slot, present - 1);
    const KeyRange own = visible_in(block, sentence, i);
    out.begin[l] = static_cast<int32_t>(own.begin);
    out.visible[l] = static_cast<int32_t>(own.end);
    const DropoutHalves key =
        halves(sentence.dropout, first_index[lanes.first + h] +
                                     static_cast<uint64_t>(i * sentence.keys + block.begin));
    out.low[l] = key.low;
    out.first[l] = key.first;
    out.high = key.high;
  }
  out.keys = out.visible[kLanes - 1];
  return out;
}

static inline void hide_others(const QueryLanes& query, float* scores) {
  for (int64_t j = 0; j < query.begin[kLanes - 1]; ++j) {
    for (int64_t l = 0; l < kLanes; ++l) {
      if (j < query.begin[l]) scores[j * kLanes + l] = -__builtin_inff();
    }
  }
  for (int64_t j = query.visible[0]; j < query.keys; ++j) {
    for (int64_t l = 0; l < kLanes; ++l) {
      if (j >= query.visible[l]) scores[j * kLanes + l] = -__builtin_inff();
    }
  }
}

static inline void drop_lanes(const AttentionHead& sentence, const QueryLanes& query,
                              const float* in, float* out) {
  for (int64_t j = 0; j < query.keys; ++j) {
    for (int64_t l = 0; l < kLanes; ++l) {
      out[j * kLanes + l] =
          in[j * kLanes + l] * dropout_factor(query.first[l] + static_cast<uint32_t>(j),
                                              query.low[l], query.high, sentence.dropout.threshold,
                                              sentence.dropout.scale);
    }
  }
}

// x[j] = exp(x[j] - shift) by lane. Two loops: the compiler vectorizes exp over a flat array only.
static inline void exponentials(float* x, int64_t count, Vector shift) {
  for (int64_t j = 0; j < count; j += kLanes) store(x + j, load(x + j) - shift);
  for (int64_t j = 0; j < count; ++j) x[j] = exp_of(x[j]);
}

// Scores to weights in place, zero from query.keys to n; sets log Σ exp by lane.
ATTN_APART static void lane_softmax(const QueryLanes& query, int64_t n, float* scores,
                                    float* log_sum) {
  hide_others(query, scores);
  const int64_t count = query.keys * kLanes;
  float largest[kLanes], sum[kLanes], inverse[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) largest[l] = scores[l];
  for (int64_t j = kLanes; j < count; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) largest[l] = max_of(scores[j + l], largest[l]);
  }
  exponentials(scores, count, load(largest));
  Vector total = {};
  for (int64_t j = 0; j < count; j += kLanes) total += load(scores + j);
  store(sum, total);
  for (int64_t l = 0; l < kLanes; ++l) {
    inverse[l] = 1.0f / sum[l];
    log_sum[l] = largest[l] + log_of(sum[l]);
  }
  const Vector factor = load(inverse);
  for (int64_t j = 0; j < count; j += kLanes) store(scores + j, load(scores + j) * factor);
  clear(scores, count, n * kLanes);
}

// As backward_row, by lane: `scores` holds the gradients of the dropped weights and becomes those
// of the scores.
ATTN_APART static void lane_backward(const AttentionHead& sentence, const QueryLanes& query,
                                     int64_t n, const float* log_sum, float* weights,
                                     float* dropped, float* scores) {
  hide_others(query, weights);
  const int64_t count = query.keys * kLanes;
  exponentials(weights, count, load(log_sum));
  if (sentence.dropout.threshold != 0) {
    drop_lanes(sentence, query, weights, dropped);
    drop_lanes(sentence, query, scores, scores);
  } else {
    for (int64_t j = 0; j < count; ++j) dropped[j] = weights[j];
  }
  Vector mean = {};
  for (int64_t j = 0; j < count; j += kLanes) mean += load(weights + j) * load(scores + j);
  const float scale = inverse_root(sentence.d_k);
  for (int64_t j = 0; j < count; j += kLanes) {
    store(scores + j, scale * load(weights + j) * (load(scores + j) - mean));
  }
  clear(scores, count, n * kLanes);
  clear(dropped, count, n * kLanes);
}

static void narrow_attention_forward(const AttentionHead& sentence, int64_t heads,
                                     const uint64_t* first_index, float* output,
                                     int64_t output_stride, float* log_sum, int64_t log_sum_stride,
                                     float* scratch) {
  HeadLanes lanes = head_lanes(heads);
  const int64_t d_k = sentence.d_k, d_v = sentence.d_v, all = sentence.keys;
  float* biases = scratch;
  float* keys = biases + bias_vectors(all) * kLanes;
  float* values = keys + all * d_k * kLanes;
  float* queries = values + all * d_v * kLanes;
  float* outputs = queries + kBlock * d_k * kLanes;
  float* weights = outputs + kBlock * d_v * kLanes;
  const NarrowRelative relative(sentence, scratch + narrow_attention_scratch(all, d_k, d_v));
  const float scale = inverse_root(d_k);
  const int64_t step = kBlock * lanes.slots;
  for (lanes.first = 0; lanes.first < heads; lanes.first += lanes.per_slot) {
    const int64_t present = heads_in(lanes);
    spread_rows(lanes, sentence.key, sentence.key_stride, all, d_k, keys);
    spread_rows(lanes, sentence.value, sentence.value_stride, all, d_v, values);
    spread_bias(lanes, sentence, biases);
    relative.spread(lanes);
    for (int64_t i0 = 0; i0 < sentence.queries; i0 += step) {
      const int64_t count = min(step, sentence.queries - i0);
      const KeyRange block = visible_to_block(sentence, i0, count);
      const int64_t n = block.end - block.begin;
      const int64_t key_at = block.begin * d_k * kLanes, value_at = block.begin * d_v * kLanes;
      gather_rows(lanes, sentence.query + i0 * sentence.query_stride, sentence.query_stride, count,
                  d_k, queries);
      lane_products(queries, scale, keys + key_at, d_k, n, all, weights);
      relative.scores_of(queries, scale);
      for (int64_t q = 0; q < kBlock && q * lanes.slots < count; ++q) {
        const int64_t i = i0 + q * lanes.slots;
        const QueryLanes query = query_lanes(sentence, first_index, lanes, i, block);
        float* row = weights + q * all * kLanes;
        add_bias_lanes(sentence, i, block, biases, row);
        relative.add_scores(lanes, q, i, block, row);
        float sums[kLanes] = {};  // no keys: zero output
        if (n > 0) lane_softmax(query, n, row, sums);
        if (sentence.dropout.threshold != 0) drop_lanes(sentence, query, row, row);
        relative.sum_weights(lanes, q, i, block, row);
        for (int64_t slot = 0; slot < lanes.slots && q * lanes.slots + slot < count; ++slot) {
          float* at = log_sum + lanes.first * log_sum_stride + i + slot;
          for (int64_t h = 0; h < present; ++h) {
            at[h * log_sum_stride] = sums[slot * lanes.per_slot + h];
          }
        }
      }
      lane_sums(weights, values + value_at, d_v, n, all, outputs);
      relative.add_values(outputs);
      scatter_rows(lanes, outputs, count, d_v, output + i0 * output_stride, output_stride);
    }
  }
}

static void narrow_attention_backward(const AttentionHead& sentence, int64_t heads,
                                      const uint64_t* first_index,
                                      const AttentionGradients& gradients, int64_t log_sum_stride,
                                      float* scratch) {
  HeadLanes lanes = head_lanes(heads);
  const int64_t d_k = sentence.d_k, d_v = sentence.d_v, all = sentence.keys;
  float* biases = scratch;
  float* d_biases = biases + bias_vectors(all) * kLanes;
  float* keys = d_biases + bias_vectors(all) * kLanes;
  float* values = keys + all * d_k * kLanes;
  float* d_keys = values + all * d_v * kLanes;
  float* d_values = d_keys + all * d_k * kLanes;
  float* queries = d_values + all * d_v * kLanes;
  float* d_queries = queries + kBlock * d_k * kLanes;
  float* d_outputs = d_queries + kBlock * d_k * kLanes;
  float* weights = d_outputs + kBlock * d_v * kLanes;
  float* dropped = weights + kBlock * all * kLanes;
  float* scores = dropped + kBlock * all * kLanes;
  const NarrowRelative relative(sentence, scratch + narrow_attention_scratch(all, d_k, d_v));
  const float scale = inverse_root(d_k);
  const int64_t step = kBlock * lanes.slots;
  for (lanes.first = 0; lanes.first < heads; lanes.first += lanes.per_slot) {
    const int64_t present = heads_in(lanes);
    spread_rows(lanes, sentence.key, sentence.key_stride, all, d_k, keys);
    spread_rows(lanes, sentence.value, sentence.value_stride, all, d_v, values);
    clear(d_keys, 0, all * (d_k + d_v) * kLanes);
    spread_bias(lanes, sentence, biases);
    relative.spread(lanes);
    relative.clear_gradients();
    if (gradients.bias != nullptr) clear(d_biases, 0, (sentence.queries + all - 1) * kLanes);
    for (int64_t i0 = 0; i0 < sentence.queries; i0 += step) {
      const int64_t count = min(step, sentence.queries - i0);
      const KeyRange block = visible_to_block(sentence, i0, count);
      const int64_t n = block.end - block.begin;
      const int64_t key_at = block.begin * d_k * kLanes, value_at = block.begin * d_v * kLanes;
      gather_rows(lanes, sentence.query + i0 * sentence.query_stride, sentence.query_stride, count,
                  d_k, queries);
      gather_rows(lanes, gradients.output + i0 * gradients.output_stride, gradients.output_stride,
                  count, d_v, d_outputs);
      lane_products(queries, scale, keys + key_at, d_k, n, all, weights);
      lane_products(d_outputs, 1.0f, values + value_at, d_v, n, all, scores);
      relative.scores_of(queries, scale);
      relative.weight_gradients_of(d_outputs);
      for (int64_t q = 0; q < kBlock; ++q) {
        const int64_t i = i0 + q * lanes.slots, at = q * all * kLanes;
        if (i >= sentence.queries) {  // missing rows add nothing
          clear(scores + at, 0, n * kLanes);
          clear(dropped + at, 0, n * kLanes);
          relative.clear_row(q);
          continue;
        }
        float sums[kLanes] = {};
        for (int64_t l = 0; l < kLanes; ++l) {
          const int64_t row = i + l / lanes.per_slot, h = l % lanes.per_slot;
          // A lane without a query or head: its output's gradient is 0, and so are all of its own.
          sums[l] = row < sentence.queries && h < present
                        ? gradients.log_sum[(lanes.first + h) * log_sum_stride + row]
                        : 100.0f;
        }
        add_bias_lanes(sentence, i, block, biases, weights + at);
        relative.add_scores(lanes, q, i, block, weights + at);
        relative.add_weight_gradients(lanes, q, i, block, scores + at);
        lane_backward(sentence, query_lanes(sentence, first_index, lanes, i, block), n, sums,
                      weights + at, dropped + at, scores + at);
        relative.sum_scores(lanes, q, i, block, scores + at);
        relative.sum_weights(lanes, q, i, block, dropped + at);
        if (gradients.bias == nullptr) continue;
        float* d_bias = d_biases + bias_at(sentence, i, block);
        for (int64_t j = 0; j < n * kLanes; ++j) d_bias[j] += scores[at + j];
      }
      lane_sums(scores, keys + key_at, d_k, n, all, d_queries);
      relative.add_gradients(queries, d_outputs, d_queries);
      scatter_rows(lanes, d_queries, count, d_k, gradients.query + i0 * sentence.query_stride,
                   sentence.query_stride);
      lane_outer(scores, queries, d_k, n, all, d_keys + key_at);
      lane_outer(dropped, d_outputs, d_v, n, all, d_values + value_at);
    }
    add_slots(lanes, d_keys, all, d_k, gradients.key, sentence.key_stride);
    add_slots(lanes, d_values, all, d_v, gradients.value, sentence.value_stride);
    relative.add_to(lanes, gradients);
    if (gradients.bias == nullptr) continue;
    for_each_bias(lanes, sentence, [&](int64_t head, int64_t distance, int64_t lane) {
      gradients.bias[head * sentence.bias_stride + distance] += d_biases[lane] / scale;
    });
  }
}

#undef ATTN_APART
