// LayerNorm or RMSNorm of x + dropout(update), forward and backward. Part of body.h.

// The row to normalize: x + dropout(update), written to `sums`, or x.
static inline const float* row_of_sums(const NormRows& rows, int64_t row, float* sums) {
  const float* x = rows.x + row * rows.width;
  if (rows.update == nullptr) return x;
  const float* update = rows.update + row * rows.width;
  float* sum = sums + row * rows.width;
  if (rows.dropout.threshold == 0) {
    for (int64_t c = 0; c < rows.width; ++c) sum[c] = x[c] + update[c];
    return sum;
  }
  const DropoutHalves key = halves(rows.dropout, static_cast<uint64_t>(row * rows.width));
  for (int64_t c = 0; c < rows.width; ++c) {
    sum[c] =
        x[c] + update[c] * dropout_factor(key.first + static_cast<uint32_t>(c), key.low, key.high,
                                          rows.dropout.threshold, rows.dropout.scale);
  }
  return sum;
}

// LayerNorm; not `kCentred`: RMSNorm, with neither mean nor bias.
template <bool kCentred>
static void normalize_rows(const NormRows& rows, float* output, float* sums, float* means,
                           float* rstds) {
  const float width = static_cast<float>(rows.width);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* sum = row_of_sums(rows, row, sums);
    const float mean = kCentred ? sum_of(sum, rows.width) / width : 0.0f;
    float square = 0.0f;
    for (int64_t c = 0; c < rows.width; ++c) square += (sum[c] - mean) * (sum[c] - mean);
    const float rstd = 1.0f / __builtin_sqrtf(square / width + rows.epsilon);
    float* out = output + row * rows.width;
    for (int64_t c = 0; c < rows.width; ++c) {
      const float bias = kCentred ? rows.bias[c] : 0.0f;
      out[c] = (sum[c] - mean) * rstd * rows.weight[c] + bias;
    }
    means[row] = mean;
    rstds[row] = rstd;
  }
}

static void norm_forward(const NormRows& rows, float* output, float* sums, float* means,
                         float* rstds) {
  const auto normalize = rows.bias != nullptr ? normalize_rows<true> : normalize_rows<false>;
  normalize(rows, output, sums, means, rstds);
}

template <bool kCentred>
static void gradient_of_rows(const NormRows& rows, const NormGradients& gradients) {
  const int64_t width = rows.width;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* dy = gradients.output + row * width;
    const float* sum = gradients.sum + row * width;
    const float mean = kCentred ? gradients.mean[row] : 0.0f, rstd = gradients.rstd[row];
    float mean_dy = 0.0f, mean_dyx = 0.0f;
    for (int64_t c = 0; c < width; ++c) {
      const float normal = (sum[c] - mean) * rstd;
      const float scaled = dy[c] * rows.weight[c];
      mean_dyx += scaled * normal;
      gradients.weight[c] += dy[c] * normal;
      if (kCentred) {
        mean_dy += scaled;
        gradients.bias[c] += dy[c];
      }
    }
    mean_dy /= static_cast<float>(width);
    mean_dyx /= static_cast<float>(width);
    float* dx = gradients.x + row * width;
    for (int64_t c = 0; c < width; ++c) {
      const float normal = (sum[c] - mean) * rstd;
      dx[c] = rstd * (dy[c] * rows.weight[c] - mean_dy - normal * mean_dyx);
    }
    if (rows.dropout.threshold == 0) continue;
    dropout_row(dx, gradients.update + row * width, width, rows.dropout,
                static_cast<uint64_t>(row * width));
  }
}

static void norm_backward(const NormRows& rows, const NormGradients& gradients) {
  (rows.bias != nullptr ? gradient_of_rows<true> : gradient_of_rows<false>)(rows, gradients);
}
