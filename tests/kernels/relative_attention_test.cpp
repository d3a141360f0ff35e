// Attention with relative positions and dropout against its formula in double precision (Shaw et
// al., 2018, equations 3 and 4), on buffers of exactly the required size.
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

struct RelativeCase {
  int64_t length, width, clip;
  bool causal;
  double dropout;
  int64_t window = 0;
};

// Of a key in a^K and a^V.
int64_t relative_row(const RelativeCase& c, int64_t query, int64_t key) {
  return std::clamp(key - query, -c.clip, c.clip) + c.clip;
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

void check(const std::vector<float>& found, const DoubleRows& expected) {
  size_t at = 0;
  for (const auto& row : expected) {
    for (const double x : row) CHECK(found[at++] == Approx(x).margin(1e-5));
  }
}

// What dropout does to each weight, 0 or 1 / (1 - dropout): with the rows of the identity as
// values, the outputs of attention are its weights.
DoubleRows factors_of(const cpu::Kernels& kernels, cpu::AttentionHead head) {
  const int64_t length = head.keys;
  std::vector<float> identity(static_cast<size_t>(length * length));
  for (int64_t j = 0; j < length; ++j) identity[j * length + j] = 1;
  head.value = identity.data(), head.value_stride = head.d_v = length;
  head.relative = {};
  std::vector<float> dropped(identity.size()), kept(identity.size()),
      log_sum(static_cast<size_t>(length)),
      scratch(static_cast<size_t>(kernels.attention_scratch(length, head.d_k, length)));
  kernels.attention_forward(head, dropped.data(), length, log_sum.data(), scratch.data());
  head.dropout = {};
  kernels.attention_forward(head, kept.data(), length, log_sum.data(), scratch.data());
  for (size_t i = 0; i < kept.size(); ++i) dropped[i] = kept[i] > 0 ? dropped[i] / kept[i] : 0;
  return matrix(dropped, length);
}

}  // namespace

TEST_CASE("relative positions agree with their formula, with dropout, and so do the gradients") {
  const cpu::Kernels& kernels = each_table();
  const RelativeCase c =
      GENERATE(RelativeCase{1, 16, 2, false, 0}, RelativeCase{17, 16, 4, false, 0},
               RelativeCase{40, 20, 16, true, 0}, RelativeCase{33, 32, 0, true, 0.3},
               RelativeCase{21, 8, 30, false, 0.2}, RelativeCase{70, 16, 5, true, 0.1, 9},
               RelativeCase{70, 24, 8, false, 0.4, 30}, RelativeCase{23, 2, 3, true, 0.1},
               RelativeCase{37, 4, 16, false, 0.2, 9});
  CAPTURE(c.length, c.width, c.clip, c.causal, c.dropout, c.window, kernels.name);
  Random random(static_cast<uint64_t>(c.length));
  const int64_t size = c.length * c.width, relative_size = (2 * c.clip + 1) * c.width;
  const auto q = random_floats(random, size), k = random_floats(random, size),
             v = random_floats(random, size), d_out = random_floats(random, size),
             relative_key = random_floats(random, relative_size),
             relative_value = random_floats(random, relative_size);
  cpu::AttentionHead head{};
  head.query = q.data(), head.key = k.data(), head.value = v.data();
  head.query_stride = head.key_stride = head.value_stride = head.d_k = head.d_v = c.width;
  head.queries = head.keys = c.length, head.causal = c.causal, head.window = c.window;
  head.dropout = testing::dropout_of(c.dropout), head.first_index = 12345;
  head.relative = {relative_key.data(), relative_value.data(), c.width, c.width, c.clip};
  std::vector<float> out(q.size()), log_sum(static_cast<size_t>(c.length)),
      scratch(static_cast<size_t>(kernels.attention_scratch(c.length, c.width, c.width) +
                                  kernels.relative_scratch(c.clip, c.width, c.width)));
  kernels.attention_forward(head, out.data(), c.width, log_sum.data(), scratch.data());
  std::vector<float> dq(q.size()), dk(q.size()), dv(q.size()), d_relative_key(relative_key.size()),
      d_relative_value(relative_key.size());
  kernels.attention_backward(head,
                             {d_out.data(), c.width, log_sum.data(), dq.data(), dk.data(),
                              dv.data(), nullptr, d_relative_key.data(), d_relative_value.data()},
                             scratch.data());

  const DoubleRows factors = factors_of(kernels, head);
  double kept = 0, seen = 0;
  const DoubleRows queries = matrix(q, c.width), keys = matrix(k, c.width),
                   values = matrix(v, c.width), gradients = matrix(d_out, c.width),
                   a_k = matrix(relative_key, c.width), a_v = matrix(relative_value, c.width);
  const auto zeros = [&](int64_t rows) {
    return DoubleRows(static_cast<size_t>(rows), std::vector<double>(static_cast<size_t>(c.width)));
  };
  DoubleRows e_out = zeros(c.length), e_q = e_out, e_k = e_out, e_v = e_out,
             e_relative_key = zeros(2 * c.clip + 1), e_relative_value = e_relative_key;
  const double scale = 1 / std::sqrt(static_cast<double>(c.width));
  for (int64_t i = 0; i < c.length; ++i) {
    std::vector<double> weights(static_cast<size_t>(c.length)), slopes = weights;
    double sum = 0, mean = 0;
    for (int64_t j = 0; j < c.length; ++j) {
      if (!testing::attends(c.causal, c.window, i, j)) continue;
      const int64_t row = relative_row(c, i, j);
      weights[j] = std::exp(scale * (product(queries[i], keys[j]) + product(queries[i], a_k[row])));
      sum += weights[j];
      seen += 1, kept += factors[i][j] > 0;
    }
    for (int64_t j = 0; j < c.length; ++j) {
      const int64_t row = relative_row(c, i, j);
      weights[j] /= sum;
      const double dropped = weights[j] * factors[i][j];
      add(e_out[i], dropped, values[j]);
      add(e_out[i], dropped, a_v[row]);
      add(e_v[j], dropped, gradients[i]);
      add(e_relative_value[row], dropped, gradients[i]);
      slopes[j] =
          factors[i][j] * (product(gradients[i], values[j]) + product(gradients[i], a_v[row]));
      mean += weights[j] * slopes[j];
    }
    for (int64_t j = 0; j < c.length; ++j) {
      const int64_t row = relative_row(c, i, j);
      const double d_score = scale * weights[j] * (slopes[j] - mean);
      add(e_q[i], d_score, keys[j]);
      add(e_q[i], d_score, a_k[row]);
      add(e_k[j], d_score, queries[i]);
      add(e_relative_key[row], d_score, queries[i]);
    }
  }
  CHECK(std::abs(kept / seen - (1 - c.dropout)) < 0.1);
  check(out, e_out);
  check(dq, e_q);
  check(dk, e_k);
  check(dv, e_v);
  check(d_relative_key, e_relative_key);
  check(d_relative_value, e_relative_value);
}
