// Scalar functions that GCC and Clang vectorize. Part of body.h.

static inline float max_of(float a, float b) {
  return a > b ? a : b;
}

// By lanes: a plain loop of maxima is not vectorized unless NaN is excluded.
static inline float largest_of(const float* x, int64_t n) {
  float lanes[16];
  for (int l = 0; l < 16; ++l) lanes[l] = x[0];
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (int l = 0; l < 16; ++l) lanes[l] = max_of(x[i + l], lanes[l]);
  }
  for (; i < n; ++i) lanes[0] = max_of(x[i], lanes[0]);
  float largest = lanes[0];
  for (int l = 1; l < 16; ++l) largest = max_of(largest, lanes[l]);
  return largest;
}

static inline float sum_of(const float* x, int64_t n) {
  float sum = 0.0f;
  for (int64_t j = 0; j < n; ++j) sum += x[j];
  return sum;
}

// x - n ln 2 for |n| < 128, to 2e-7. ln 2 is split in two where products are rounded: n times the
// first part is exact. Without the barrier -fassociative-math would add the parts up again.
static inline float without_multiple_of_ln2(float x, float n) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(-n, 0.693147180560f, x);
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(x - n * 0.693359375f) + n * 2.12194440e-4f;
#else
  return x - n * 0.693359375f + n * 2.12194440e-4f;
#endif
}

// exp for x <= 88, to 5 ulp: x = n ln 2 + r, a polynomial for e^r, n added to the exponent. 0 for
// very negative x.
static inline float exp_of(float x) {
  const float clamped = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
  const float n = __builtin_floorf(clamped * 1.44269504089f + 0.5f);
  const float r = without_multiple_of_ln2(clamped, n);
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float power;
  __builtin_memcpy(&power, &bits, sizeof power);
  return x < -87.0f ? 0.0f : p * power;
}

static inline float sigmoid_of(float x) {
  return 1.0f / (1.0f + exp_of(-x));
}

static void silu_gate(const float* gate, const float* x, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = gate[i] * sigmoid_of(gate[i]) * x[i];
}

// To 2e-7, absolute.
static inline float tanh_of(float x) {
  return 2.0f * sigmoid_of(2.0f * x) - 1.0f;
}

// Loops with one activation each: GCC 12 does not vectorize a loop over all of them.
static void sigmoid_of_sums(const float* __restrict__ a, float* __restrict__ x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = sigmoid_of(a[i] + x[i]);
}

static void lstm_cells(const LstmCells& c) {
  const int64_t width = c.width;
  for (int64_t r = 0; r < c.rows; ++r) {
    const float* __restrict__ in = c.inputs + r * 4 * width;
    float* __restrict__ input = c.gates + r * 4 * width;
    float* __restrict__ forget = input + width;
    float* __restrict__ update = forget + width;
    float* __restrict__ output = update + width;
    const float* __restrict__ before = c.before + r * width;
    float* __restrict__ cell = c.cell + r * width;
    float* __restrict__ hidden = c.hidden + r * width;
    sigmoid_of_sums(in, input, 2 * width);
    for (int64_t j = 0; j < width; ++j) update[j] = tanh_of(in[2 * width + j] + update[j]);
    sigmoid_of_sums(in + 3 * width, output, width);
    for (int64_t j = 0; j < width; ++j) cell[j] = forget[j] * before[j] + input[j] * update[j];
    for (int64_t j = 0; j < width; ++j) hidden[j] = output[j] * tanh_of(cell[j]);
  }
}

static void lstm_cells_backward(const LstmGradients& c) {
  const int64_t width = c.width;
  for (int64_t r = 0; r < c.rows; ++r) {
    const float* __restrict__ input = c.gates + r * 4 * width;
    const float* __restrict__ forget = input + width;
    const float* __restrict__ update = forget + width;
    const float* __restrict__ output = update + width;
    const float* __restrict__ before = c.before + r * width;
    const float* __restrict__ cell = c.cell + r * width;
    const float* __restrict__ d_above = c.d_output + r * width;
    const float* __restrict__ d_next = c.d_hidden + r * width;
    float* __restrict__ d_cell = c.d_cell + r * width;
    float* __restrict__ d_input = c.d_gates + r * 4 * width;
    float* __restrict__ d_forget = d_input + width;
    float* __restrict__ d_update = d_forget + width;
    float* __restrict__ d_output = d_update + width;
    for (int64_t j = 0; j < width; ++j) d_output[j] = tanh_of(cell[j]);  // for the loop below
    ATTN_INDEPENDENT  // too many arrays to check for overlaps
    for (int64_t j = 0; j < width; ++j) {
      const float i = input[j], f = forget[j], u = update[j], o = output[j];
      const float s = d_output[j];
      const float d_hidden = d_above[j] + d_next[j];
      const float d_state = d_cell[j] + d_hidden * o * (1.0f - s * s);
      d_input[j] = d_state * u * i * (1.0f - i);
      d_forget[j] = d_state * before[j] * f * (1.0f - f);
      d_update[j] = d_state * i * (1.0f - u * u);
      d_output[j] = d_hidden * s * o * (1.0f - o);
      d_cell[j] = d_state * f;
    }
  }
}

// 32 random bits of element `index` under a 64-bit key: murmur3's finalizer with the key mixed in
// twice. Not cryptographic; tests check rates and correlations between neighbours, rows and keys.
static inline uint32_t random_bits(uint32_t index, uint32_t low, uint32_t high) {
  uint32_t x = index * 0x9e3779b1u + low;
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = ((x ^ (x >> 13)) + high) * 0xc2b2ae35u;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  return x ^ (x >> 15);
}

static inline float dropout_factor(uint32_t index, uint32_t low, uint32_t high, uint32_t threshold,
                                   float scale) {
  return random_bits(index, low, high) < threshold ? 0.0f : scale;
}

// The halves of the key for elements from `first` on; the upper 32 bits of counters go into the
// key.
struct DropoutHalves {
  uint32_t low, high, first;
};
static inline DropoutHalves halves(DropoutKey dropout, uint64_t first) {
  return {static_cast<uint32_t>(dropout.key) + static_cast<uint32_t>(first >> 32) * 0x632be5abu,
          static_cast<uint32_t>(dropout.key >> 32), static_cast<uint32_t>(first)};
}

static void dropout_row(const float* in, float* out, int64_t n, DropoutKey dropout,
                        uint64_t first) {
  const DropoutHalves key = halves(dropout, first);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = in[i] * dropout_factor(key.first + static_cast<uint32_t>(i), key.low, key.high,
                                    dropout.threshold, dropout.scale);
  }
}

static void dropout_elements(const float* in, float* out, int64_t begin, int64_t end,
                             DropoutKey dropout) {
  // In runs that do not cross a multiple of 2^32, so that the index has 32 bits.
  while (begin < end) {
    const int64_t boundary = ((begin >> 32) + 1) << 32;
    const int64_t stop = end < boundary ? end : boundary;
    dropout_row(in + begin, out + begin, stop - begin, dropout, static_cast<uint64_t>(begin));
    begin = stop;
  }
}
