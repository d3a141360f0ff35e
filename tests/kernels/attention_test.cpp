// Attention, also with relative positions and dropout, against its formula in double precision
// (Vaswani et al., 2017, equation 1; Shaw et al., 2018, equations 3 and 4), on buffers of exactly
// the required size.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::each_table;
using testing::random_floats;

namespace {

using DoubleRows = std::vector<std::vector<double>>;

constexpr int64_t kNoClip = -1;  // no relative positions

struct AttentionCase {
  int64_t queries, keys, d_k, d_v;
  bool causal;
  int64_t window = 0, clip = kNoClip;
  double dropout = 0;
};

// Rows in the middle of wide rows, and back: what lies beside them is 7, and stays so.
constexpr int64_t kAt = 8, kBeside = 24;
constexpr float kAddedTo = 0.5f;  // what gradients of keys and values are added to

std::vector<float> widened(const std::vector<float>& rows, int64_t width, bool wide) {
  if (!wide) return rows;
  const int64_t stride = width + kBeside;
  std::vector<float> out(rows.size() / static_cast<size_t>(width) * static_cast<size_t>(stride), 7);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    out[static_cast<size_t>(at / width * stride + kAt + at % width)] = rows[i];
  }
  return out;
}

DoubleRows matrix(const std::vector<float>& rows, int64_t width) {
  DoubleRows result;
  for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(width)) {
    result.emplace_back(rows.begin() + static_cast<int64_t>(at),
                        rows.begin() + static_cast<int64_t>(at) + width);
  }
  return result;
}

void add(std::vector<double>& to, double factor, const std::vector<double>& row) {
  for (size_t x = 0; x < to.size(); ++x) to[x] += factor * row[x];
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t x = 0; x < a.size(); ++x) sum += a[x] * b[x];
  return sum;
}

// What dropout does to each weight, 0 or 1 / (1 - dropout): with the rows of the identity as
// values, the outputs of attention are its weights.
DoubleRows factors_of(const cpu::Kernels& kernels, cpu::AttentionHead head) {
  const int64_t keys = head.keys;
  std::vector<float> identity(static_cast<size_t>(keys * keys));
  for (int64_t j = 0; j < keys; ++j) identity[j * keys + j] = 1;
  head.value = identity.data(), head.value_stride = head.d_v = keys;
  head.relative = {};
  const auto weights = [&] {
    std::vector<float> out(static_cast<size_t>(head.queries * keys)),
        log_sum(static_cast<size_t>(head.queries)),
        scratch(static_cast<size_t>(kernels.attention_scratch(keys, head.d_k, keys)));
    kernels.attention_forward(head, out.data(), keys, log_sum.data(), scratch.data());
    return out;
  };
  std::vector<float> dropped = weights();
  head.dropout = {};
  const std::vector<float> kept = weights();
  for (size_t i = 0; i < kept.size(); ++i) dropped[i] = kept[i] > 0 ? dropped[i] / kept[i] : 0;
  return matrix(dropped, keys);
}

}  // namespace

TEST_CASE("attention and its gradients agree with the formula for all shapes, by distance too") {
  const cpu::Kernels& kernels = each_table();
  using Case = AttentionCase;
  const Case c = GENERATE(
      Case{1, 1, 16, 16, false}, Case{5, 17, 32, 32, false}, Case{16, 16, 32, 32, true},
      Case{7, 7, 5, 3, true}, Case{3, 40, 64, 24, false}, Case{33, 33, 16, 64, true},
      Case{4, 0, 8, 8, false}, Case{21, 21, 5, 3, true, 1}, Case{70, 70, 16, 24, true, 7},
      Case{50, 50, 32, 16, true, 33}, Case{45, 45, 16, 16, false, 1}, Case{70, 70, 8, 20, false, 6},
      Case{90, 90, 16, 16, false, 40}, Case{9, 9, 16, 16, false, 30}, Case{30, 130, 128, 24, false},
      Case{40, 40, 16, 128, true}, Case{9, 13, 2, 2, false}, Case{34, 34, 1, 1, true},
      Case{21, 21, 4, 4, true}, Case{17, 17, 2, 8, true, 6}, Case{19, 19, 15, 9, true},
      Case{1, 1, 16, 16, false, 0, 2}, Case{17, 17, 16, 16, false, 0, 4},
      Case{40, 40, 20, 20, true, 0, 16}, Case{33, 33, 32, 32, true, 0, 0, 0.3},
      Case{21, 21, 8, 8, false, 0, 30, 0.2}, Case{70, 70, 16, 16, true, 9, 5, 0.1},
      Case{70, 70, 24, 24, false, 30, 8, 0.4}, Case{23, 23, 2, 2, true, 0, 3, 0.1},
      Case{37, 37, 4, 4, false, 9, 16, 0.2});
  CAPTURE(c.queries, c.keys, c.d_k, c.d_v, c.causal, c.window, c.clip, c.dropout, kernels.name);
  Random random(static_cast<uint64_t>(c.queries * 100 + c.keys));
  const bool relative = c.clip != kNoClip;
  const int64_t distances = relative ? 2 * c.clip + 1 : 0;
  const auto q = random_floats(random, c.queries * c.d_k),
             k = random_floats(random, c.keys * c.d_k), v = random_floats(random, c.keys * c.d_v),
             d_out = random_floats(random, c.queries * c.d_v),
             relative_key = random_floats(random, distances * c.d_k),
             relative_value = random_floats(random, distances * c.d_v);
  const bool wide = GENERATE(false, true);
  CAPTURE(wide);
  const int64_t at = wide ? kAt : 0, beside = wide ? kBeside : 0;
  const auto wide_q = widened(q, c.d_k, wide), wide_k = widened(k, c.d_k, wide),
             wide_v = widened(v, c.d_v, wide), wide_d_out = widened(d_out, c.d_v, wide);
  cpu::AttentionHead head{};
  head.query = wide_q.data() + at, head.key = wide_k.data() + at, head.value = wide_v.data() + at;
  head.queries = c.queries, head.keys = c.keys, head.d_k = c.d_k, head.d_v = c.d_v;
  head.query_stride = head.key_stride = c.d_k + beside, head.value_stride = c.d_v + beside;
  head.causal = c.causal, head.window = c.window;
  head.dropout = testing::dropout_of(c.dropout), head.first_index = 12345;
  if (relative) head.relative = {relative_key.data(), relative_value.data(), c.d_k, c.d_v, c.clip};
  auto out = widened(std::vector<float>(d_out.size()), c.d_v, wide),
       dq = widened(std::vector<float>(q.size()), c.d_k, wide),
       dk = widened(std::vector<float>(k.size(), kAddedTo), c.d_k, wide),
       dv = widened(std::vector<float>(v.size(), kAddedTo), c.d_v, wide);
  std::vector<float> log_sum(static_cast<size_t>(c.queries)), d_relative_key(relative_key.size()),
      d_relative_value(relative_value.size()),
      scratch(static_cast<size_t>(kernels.attention_scratch(c.keys, c.d_k, c.d_v) +
                                  (relative ? kernels.relative_scratch(c.clip, c.d_k, c.d_v) : 0)));
  kernels.attention_forward(head, out.data() + at, c.d_v + beside, log_sum.data(), scratch.data());
  cpu::AttentionGradients gradients_of{wide_d_out.data() + at, c.d_v + beside, log_sum.data(),
                                       dq.data() + at,         dk.data() + at, dv.data() + at};
  if (relative) {
    gradients_of.relative_key = d_relative_key.data();
    gradients_of.relative_value = d_relative_value.data();
  }
  kernels.attention_backward(head, gradients_of, scratch.data());
  if (!relative) {
    std::vector<float> transposed(static_cast<size_t>(kernels.transposed_size(c.keys, c.d_k)));
    auto same = widened(std::vector<float>(d_out.size()), c.d_v, wide);
    kernels.transpose(head.key, head.key_stride, c.keys, c.d_k, transposed.data());
    kernels.attention_transposed(head, transposed.data(), same.data() + at, c.d_v + beside,
                                 scratch.data());
    CHECK(same == out);
  }

  const DoubleRows factors =
      c.dropout > 0 ? factors_of(kernels, head)
                    : DoubleRows(static_cast<size_t>(c.queries),
                                 std::vector<double>(static_cast<size_t>(c.keys), 1.0));
  double kept = 0, seen = 0;
  const DoubleRows queries = matrix(q, c.d_k), keys = matrix(k, c.d_k), values = matrix(v, c.d_v),
                   gradients = matrix(d_out, c.d_v), a_k = matrix(relative_key, c.d_k),
                   a_v = matrix(relative_value, c.d_v);
  const auto zeros = [](int64_t rows, int64_t width, double start = 0) {
    return DoubleRows(static_cast<size_t>(rows),
                      std::vector<double>(static_cast<size_t>(width), start));
  };
  DoubleRows e_out = zeros(c.queries, c.d_v), e_q = zeros(c.queries, c.d_k),
             e_k = zeros(c.keys, c.d_k, kAddedTo), e_v = zeros(c.keys, c.d_v, kAddedTo),
             e_relative_key = zeros(distances, c.d_k), e_relative_value = zeros(distances, c.d_v);
  const double scale = 1 / std::sqrt(static_cast<double>(c.d_k));
  for (int64_t i = 0; i < c.queries; ++i) {
    // Keys and values with what their distance adds.
    DoubleRows own_keys = keys, own_values = values;
    const auto row_of = [&](int64_t j) { return std::clamp(j - i, -c.clip, c.clip) + c.clip; };
    for (int64_t j = 0; relative && j < c.keys; ++j) {
      add(own_keys[j], 1, a_k[row_of(j)]);
      add(own_values[j], 1, a_v[row_of(j)]);
    }
    std::vector<double> weights(static_cast<size_t>(c.keys)), slopes = weights;
    double sum = 0, mean = 0;
    for (int64_t j = 0; j < c.keys; ++j) {
      if (!testing::attends(c.causal, c.window, i, j)) continue;
      weights[j] = std::exp(scale * product(queries[i], own_keys[j]));
      sum += weights[j];
      seen += 1, kept += factors[i][j] > 0;
    }
    for (int64_t j = 0; j < c.keys; ++j) {
      weights[j] /= sum;
      const double dropped = weights[j] * factors[i][j];
      add(e_out[i], dropped, own_values[j]);
      add(e_v[j], dropped, gradients[i]);
      if (relative) add(e_relative_value[row_of(j)], dropped, gradients[i]);
      slopes[j] = factors[i][j] * product(gradients[i], own_values[j]);
      mean += weights[j] * slopes[j];
    }
    for (int64_t j = 0; j < c.keys; ++j) {
      const double d_score = scale * weights[j] * (slopes[j] - mean);
      add(e_q[i], d_score, own_keys[j]);
      add(e_k[j], d_score, queries[i]);
      if (relative) add(e_relative_key[row_of(j)], d_score, queries[i]);
    }
  }
  if (seen > 0) CHECK(std::abs(kept / seen - (1 - c.dropout)) < 0.1);
  const double margin = relative ? 1e-5 : 5e-6;
  const auto check = [margin](const std::vector<float>& found, const DoubleRows& expected,
                              int64_t first, int64_t around) {
    size_t next = 0;
    for (const auto& row : expected) {
      const auto width = static_cast<int64_t>(row.size());
      for (int64_t x = 0; x < width + around; ++x) {
        const bool own = x >= first && x < first + width;
        CHECK(found[next++] ==
              Approx(own ? row[static_cast<size_t>(x - first)] : 7).margin(margin));
      }
    }
  };
  check(out, e_out, at, beside);
  check(dq, e_q, at, beside);
  check(dk, e_k, at, beside);
  check(dv, e_v, at, beside);
  check(d_relative_key, e_relative_key, 0, 0);
  check(d_relative_value, e_relative_value, 0, 0);
}

TEST_CASE("NaN in a key reaches the outputs and all gradients") {
  const cpu::Kernels& kernels = each_table();
  CAPTURE(kernels.name);
  Random random(3);
  constexpr int64_t kRows = 5, kWidth = 4;
  const auto q = random_floats(random, kRows * kWidth), v = random_floats(random, kRows * kWidth),
             d_out = random_floats(random, kRows * kWidth);
  auto k = random_floats(random, kRows * kWidth);
  k[8] = std::nanf("");
  cpu::AttentionHead head{};
  head.query = q.data(), head.key = k.data(), head.value = v.data();
  head.queries = head.keys = kRows;
  head.query_stride = head.key_stride = head.value_stride = head.d_k = head.d_v = kWidth;
  std::vector<float> out(q.size()), dq(q.size()), dk(q.size()), dv(q.size()), log_sum(kRows),
      scratch(static_cast<size_t>(kernels.attention_scratch(kRows, kWidth, kWidth)));
  kernels.attention_forward(head, out.data(), kWidth, log_sum.data(), scratch.data());
  kernels.attention_backward(
      head, {d_out.data(), kWidth, log_sum.data(), dq.data(), dk.data(), dv.data()},
      scratch.data());
  for (const auto* values : {&out, &dq, &dk, &dv}) {
    for (const float value : *values) CHECK(std::isnan(value));
  }
}
