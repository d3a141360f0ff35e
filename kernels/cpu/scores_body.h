// The scores of a query: which keys it sees, and the bias added to them. Part of body.h.

// The unmasked keys [begin, end) of a query; both ends never fall from one query to the next.
struct KeyRange {
  int64_t begin, end;
};
static inline KeyRange visible(const AttentionHead& head, int64_t query) {
  KeyRange range = {0, head.keys};
  if (head.causal) range.end = min(query + 1, head.keys);
  if (head.window == 0) return range;
  if (!head.causal) range.end = min(query + head.window / 2 + 1, head.keys);
  const int64_t before = head.causal ? head.window - 1 : head.window / 2;
  if (query > before) range.begin = min(query - before, range.end);
  return range;
}

// Those of a block of queries: its score rows begin there, so that the work and the memory touched
// grow with the window, not with the sentence. `begin` is a multiple of `step`.
static inline KeyRange visible_to_block(const AttentionHead& head, int64_t first, int64_t count,
                                        int64_t step = 1) {
  return {visible(head, first).begin / step * step, visible(head, first + count - 1).end};
}

// The keys of a query, counted from the first key of its block.
static inline KeyRange visible_in(const KeyRange& block, const AttentionHead& head, int64_t query) {
  const KeyRange range = visible(head, query);
  return {range.begin - block.begin, range.end - block.begin};
}

static inline float inverse_root(int64_t d_k) {
  return 1.0f / __builtin_sqrtf(static_cast<float>(d_k));
}

// Adds the bias to the scores of a query, which begin at the block's first key.
static inline void add_bias(const AttentionHead& head, int64_t query, const KeyRange& block,
                            float* scores) {
  if (head.bias == nullptr) return;
  const float* bias = head.bias + block.begin - query;
  for (int64_t j = 0; j < block.end - block.begin; ++j) scores[j] += bias[j];
}

// `scores` holds the gradients of q · k, which is scaled before the bias is added.
static inline void add_bias_gradient(const AttentionHead& head, const AttentionGradients& gradients,
                                     int64_t query, const KeyRange& block, const float* scores) {
  if (gradients.bias == nullptr) return;
  const float factor = 1.0f / inverse_root(head.d_k);
  float* bias = gradients.bias + block.begin - query;
  for (int64_t j = 0; j < block.end - block.begin; ++j) bias[j] += factor * scores[j];
}
