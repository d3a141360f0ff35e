// Raw kernels against loops in double precision, on buffers of exactly the required size, so that
// the sanitizers detect accesses out of bounds. All instruction sets that the machine supports run
// the same cases.
#include <cmath>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::each_table;
using testing::random_floats;

TEST_CASE(
    "a decoding step attends to the cache rows that the back-pointers name, by distance too") {
  const cpu::Kernels& kernels = each_table();
  Random random(4);
  const int64_t heads = 4, kv_heads = GENERATE(4, 2), count = GENERATE(1, 4, 6);
  const int64_t steps = GENERATE(1, 9, 33);
  const int64_t d_k = GENERATE(6, 32), d_v = GENERATE(5, 16, 71);
  const int64_t clip = GENERATE(-1, 0, 8);  // of relative positions; -1: none
  if (clip >= steps) return;
  const int64_t key_stride = kv_heads * d_k, value_stride = kv_heads * d_v;
  std::vector<std::vector<float>> keys, values;
  std::vector<std::vector<int32_t>> past(static_cast<size_t>(count));
  for (int64_t t = 0; t < steps; ++t) {
    const auto cached = static_cast<int64_t>(1 + random.below(4));
    keys.push_back(random_floats(random, cached * key_stride));
    values.push_back(random_floats(random, cached * value_stride));
    for (auto& row : past) {
      row.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(cached))));
    }
  }
  std::vector<const float*> key_rows, value_rows;
  std::vector<const int32_t*> rows;
  for (const auto& of_step : keys) key_rows.push_back(of_step.data());
  for (const auto& of_step : values) value_rows.push_back(of_step.data());
  for (const auto& row : past) rows.push_back(row.data());
  const auto query = random_floats(random, count * heads * d_k);
  const auto relative_key = random_floats(random, (clip + 1) * heads * d_k),
             relative_value = random_floats(random, (clip + 1) * heads * d_v);
  cpu::CachedRows step{query.data(), heads * d_k, count,      key_rows.data(), value_rows.data(),
                       rows.data(),  steps,       key_stride, value_stride,    heads,
                       kv_heads,     d_k,         d_v};
  if (clip >= 0) {
    step.relative = {relative_key.data(), relative_value.data(), heads * d_k, heads * d_v, clip};
  }
  // Of position t and head h in a^K or a^V.
  const auto relative = [&](const std::vector<float>& of, int64_t t, int64_t h, int64_t width,
                            int64_t x) {
    if (clip < 0) return 0.0;
    const int64_t row = std::max<int64_t>(clip - (steps - 1 - t), 0);
    return static_cast<double>(of[(row * heads + h) * width + x]);
  };
  std::vector<float> out(static_cast<size_t>(count * heads * d_v)),
      scratch(static_cast<size_t>(kernels.step_attention_scratch(heads, steps, clip)));
  kernels.step_attention(step, out.data(), scratch.data());
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t kv = h / (heads / kv_heads);
      std::vector<double> w;
      double sum = 0;
      for (int64_t t = 0; t < steps; ++t) {
        const float* key = keys[t].data() + past[r][t] * key_stride + kv * d_k;
        double dot = 0;
        for (int64_t x = 0; x < d_k; ++x) {
          dot += query[(r * heads + h) * d_k + x] *
                 (static_cast<double>(key[x]) + relative(relative_key, t, h, d_k, x));
        }
        w.push_back(std::exp(dot / std::sqrt(static_cast<double>(d_k))));
        sum += w.back();
      }
      for (int64_t x = 0; x < d_v; ++x) {
        double expected = 0;
        for (int64_t t = 0; t < steps; ++t) {
          expected += w[t] / sum *
                      (static_cast<double>(values[t][past[r][t] * value_stride + kv * d_v + x]) +
                       relative(relative_value, t, h, d_v, x));
        }
        CHECK(out[(r * heads + h) * d_v + x] == Approx(expected).margin(1e-6));
      }
    }
  }
}

TEST_CASE("the loss of a row is that of its definition and its gradient sums to zero") {
  const cpu::Kernels& kernels = each_table();
  const int64_t classes = GENERATE(2, 15, 16, 17, 1000);
  const int64_t excluded = GENERATE(-1, 1);
  if (classes == 2 && excluded == 1) return;  // no class would be left for the smoothing
  Random random(9);
  const auto logits = random_floats(random, classes);
  const double others = static_cast<double>(classes - 1 - (excluded >= 0 ? 1 : 0));
  const cpu::SmoothedTargets targets{0.9f, static_cast<float>(0.1 / others), excluded};
  std::vector<float> row = logits;
  double nll = 0;
  const double loss = kernels.smoothed_loss(row.data(), classes, 0, targets, true, &nll);
  double sum = 0;
  for (const float z : logits) sum += std::exp(z);
  double expected = 0, total = 0;
  for (int64_t c = 0; c < classes; ++c) {
    const double log_p = logits[c] - std::log(sum);
    const double q = c == 0 ? 0.9 : c == excluded ? 0.0 : targets.smoothing_per_class;
    expected -= q * log_p;
    CHECK(row[c] == Approx(std::exp(log_p) - q).margin(1e-6));
    total += row[c];
  }
  CHECK(loss == Approx(expected).epsilon(1e-5));
  CHECK(nll == Approx(std::log(sum) - logits[0]).epsilon(1e-5));
  CHECK(std::abs(total) < 1e-5);
  CHECK(kernels.log_sum_exp(logits.data(), classes) == Approx(std::log(sum)).epsilon(1e-6));
}

TEST_CASE("small probabilities are as precise as large ones") {
  const cpu::Kernels& kernels = each_table();
  std::vector<float> logits;
  for (int i = 0; i < 860; ++i) logits.push_back(-0.1f * static_cast<float>(i));
  double sum = 0;
  for (const float z : logits) sum += std::exp(static_cast<double>(z));
  std::vector<float> row = logits;
  double nll = 0;
  // Without smoothing the gradient of the other classes is their probability.
  kernels.smoothed_loss(row.data(), static_cast<int64_t>(row.size()), 0, {1.0f, 0.0f, -1}, true,
                        &nll);
  bool close = true;
  for (size_t c = 1; c < row.size(); ++c) {
    const double p = std::exp(static_cast<double>(logits[c])) / sum;
    close &= std::abs(row[c] / p - 1) < 7e-7;
  }
  CHECK(close);
}

TEST_CASE("dropout draws the same elements whatever part of a tensor it is asked for") {
  const cpu::Kernels& kernels = each_table();
  Random random(2);
  const auto in = random_floats(random, 1000);
  const cpu::DropoutKey key{0x123456789abcdefULL, 1u << 30, 4.0f / 3};
  std::vector<float> whole(in.size()), parts(in.size());
  kernels.dropout(in.data(), whole.data(), 0, 1000, key);
  kernels.dropout(in.data(), parts.data(), 0, 333, key);
  kernels.dropout(in.data(), parts.data(), 333, 1000, key);
  CHECK(whole == parts);
  int64_t dropped = 0;
  for (const float x : whole) dropped += x == 0.0f;
  CHECK(std::abs(static_cast<double>(dropped) - 250) < 50);
}

TEST_CASE("next_above finds the first value above the threshold, NaN never") {
  const cpu::Kernels& kernels = each_table();
  Random random(12);
  std::vector<float> values = random_floats(random, 1000);
  values[3] = values[70] = std::nanf("");
  for (const float threshold : {-2.0f, 0.0f, 0.99f, 0.999f, 2.0f}) {
    for (const int64_t begin : {0, 1, 63, 64, 500, 999, 1000}) {
      int64_t expected = begin;
      while (expected < 1000 && !(values[expected] > threshold)) ++expected;
      CHECK(kernels.next_above(values.data(), begin, 1000, threshold) == expected);
    }
  }
}

TEST_CASE("a norm is its formula, with and without the mean, and its gradients are the slopes") {
  const cpu::Kernels& kernels = each_table();
  const bool centred = GENERATE(true, false), alone = GENERATE(false, true);
  const int64_t width = GENERATE(1, 7, 64);
  CAPTURE(kernels.name, centred, alone, width);
  Random random(9);
  const int64_t rows = 3;
  const auto x = random_floats(random, rows * width), update = random_floats(random, rows * width),
             weight = random_floats(random, width), bias = random_floats(random, width),
             dy = random_floats(random, rows * width);
  const double epsilon = 0.1;  // the slopes of a single element are not all zero
  const auto formula = [&](const std::vector<double>& sum, int64_t row, int64_t c) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < width; ++i) mean += sum[row * width + i] / static_cast<double>(width);
    if (!centred) mean = 0;
    for (int64_t i = 0; i < width; ++i) square += std::pow(sum[row * width + i] - mean, 2);
    const double deviation = std::sqrt(square / static_cast<double>(width) + epsilon);
    return (sum[row * width + c] - mean) / deviation * weight[c] + (centred ? bias[c] : 0.0f);
  };
  const cpu::NormRows part{.begin = 0,
                           .end = rows,
                           .width = width,
                           .x = x.data(),
                           .update = alone ? nullptr : update.data(),
                           .weight = weight.data(),
                           .bias = centred ? bias.data() : nullptr,
                           .epsilon = static_cast<float>(epsilon),
                           .dropout = {}};
  const auto of_rows = static_cast<size_t>(rows), of_all = static_cast<size_t>(rows * width);
  std::vector<float> output(of_all), sums(of_all), means(of_rows), rstds(of_rows), dx(of_all),
      dw(static_cast<size_t>(width)), db(static_cast<size_t>(width));
  kernels.norm_forward(part, output.data(), alone ? nullptr : sums.data(), means.data(),
                       rstds.data());
  std::vector<float> in_place = x;
  cpu::NormRows same = part;
  same.x = in_place.data();
  kernels.norm_forward(same, in_place.data(), sums.data(), means.data(), rstds.data());
  CHECK(in_place == output);
  kernels.norm_backward(part, {.output = dy.data(),
                               .sum = alone ? x.data() : sums.data(),
                               .mean = means.data(),
                               .rstd = rstds.data(),
                               .x = dx.data(),
                               .update = dx.data(),
                               .weight = dw.data(),
                               .bias = db.data()});
  std::vector<double> sum(of_all);
  for (size_t i = 0; i < of_all; ++i) sum[i] = x[i] + (alone ? 0.0 : update[i]);
  const double h = 1e-5;
  for (int64_t i = 0; i < rows * width; ++i) {
    const int64_t row = i / width;
    CHECK(output[i] == Approx(formula(sum, row, i % width)).margin(1e-5));
    std::vector<double> above = sum, below = sum;
    above[i] += h;
    below[i] -= h;
    double slope = 0;
    for (int64_t c = 0; c < width; ++c) {
      slope += dy[row * width + c] * (formula(above, row, c) - formula(below, row, c)) / (2 * h);
    }
    CHECK(dx[i] == Approx(slope).margin(1e-4));
  }
  for (int64_t c = 0; c < width; ++c) {
    double normals = 0, ones = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const double added = centred ? bias[c] : 0.0f;
      normals += dy[row * width + c] * (formula(sum, row, c) - added) / weight[c];
      ones += dy[row * width + c];
    }
    CHECK(dw[c] == Approx(normals).margin(1e-4));
    CHECK(db[c] == Approx(centred ? ones : 0.0).margin(1e-5));
  }
}
