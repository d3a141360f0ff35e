// Attention vectorized across heads against the kernels that take one head at a time.
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::each_table;
using testing::random_floats;

TEST_CASE(
    "attention across narrow heads equals that head by head, with dropout, bias and relative "
    "positions") {
  struct Shape {
    int64_t heads, queries, keys, d_k, d_v;
    bool causal;
    double dropout;
    int64_t window = 0;
  };
  const cpu::Kernels& kernels = each_table();
  const Shape c =
      GENERATE(Shape{32, 9, 13, 2, 2, false, 0.3}, Shape{16, 21, 21, 4, 4, true, 0.0},
               Shape{8, 17, 17, 8, 8, true, 0.1}, Shape{8, 5, 30, 2, 8, false, 0.0},
               Shape{6, 11, 11, 4, 3, true, 0.7}, Shape{3, 2, 1, 5, 7, false, 0.0},
               Shape{20, 34, 34, 1, 1, true, 0.2}, Shape{2, 19, 19, 15, 9, true, 0.1},
               Shape{8, 3, 0, 4, 4, false, 0.0}, Shape{1, 6, 4, 8, 8, true, 0.0},
               Shape{8, 41, 41, 8, 8, true, 0.2, 6}, Shape{6, 37, 37, 4, 3, false, 0.2, 9},
               Shape{2, 50, 50, 2, 2, true, 0.0, 1}, Shape{32, 9, 9, 2, 2, false, 0.1, 1},
               Shape{16, 23, 23, 8, 8, true, 0.1}, Shape{4, 23, 23, 8, 4, true, 0.1},
               Shape{8, 7, 19, 4, 2, false, 0.1}, Shape{64, 6, 6, 8, 8, true, 0.0});
  const bool biased = GENERATE(false, true);
  const int64_t clip = GENERATE(-1, 0, 3, 16);               // of relative positions; -1: none
  if ((biased || clip >= 0) && c.queries != c.keys) return;  // both are for self-attention
  CAPTURE(biased, clip, c.heads, c.queries, c.keys, c.d_k, c.d_v, c.causal, c.dropout, c.window,
          kernels.name);
  Random random(static_cast<uint64_t>(c.heads * 100 + c.queries));
  const int64_t key_width = c.heads * c.d_k, value_width = c.heads * c.d_v;
  // Large scores, so that log-sums are far from zero.
  auto q = random_floats(random, c.queries * key_width);
  for (float& x : q) x *= 20.0f;
  const auto k = random_floats(random, c.keys * key_width),
             v = random_floats(random, c.keys * value_width),
             d_out = random_floats(random, c.queries * value_width);
  cpu::AttentionHead sentence{};
  sentence.query = q.data(), sentence.key = k.data(), sentence.value = v.data();
  sentence.query_stride = sentence.key_stride = key_width, sentence.value_stride = value_width;
  sentence.d_k = c.d_k, sentence.d_v = c.d_v;
  sentence.queries = c.queries, sentence.keys = c.keys, sentence.causal = c.causal;
  sentence.window = c.window;
  sentence.dropout = testing::dropout_of(c.dropout);
  const int64_t distances = 2 * c.keys - 1;
  const auto bias = random_floats(random, biased ? c.heads * distances : 0);
  if (biased) sentence.bias = bias.data() + c.keys - 1, sentence.bias_stride = distances;
  const int64_t relative_rows = clip < 0 ? 0 : 2 * clip + 1;
  const auto relative_key = random_floats(random, relative_rows * key_width),
             relative_value = random_floats(random, relative_rows * value_width);
  if (clip >= 0) {
    sentence.relative = {relative_key.data(), relative_value.data(), key_width, value_width, clip};
  }
  std::vector<uint64_t> first_index;
  for (int64_t h = 0; h < c.heads; ++h) first_index.push_back(mix64(static_cast<uint64_t>(h)));

  struct Results {
    std::vector<float> out, log_sum, dq, dk, dv, db, d_relative_key, d_relative_value;
    // Of the distance 0 of a head.
    float* bias(int64_t head, int64_t keys) {
      return db.empty() ? nullptr : db.data() + head * (2 * keys - 1) + keys - 1;
    }
  };
  const auto sized = [&] {
    return Results{std::vector<float>(static_cast<size_t>(c.queries * value_width)),
                   std::vector<float>(static_cast<size_t>(c.queries * c.heads)),
                   std::vector<float>(q.size()),
                   std::vector<float>(k.size()),
                   std::vector<float>(v.size()),
                   std::vector<float>(bias.size()),
                   std::vector<float>(relative_key.size()),
                   std::vector<float>(relative_value.size())};
  };
  Results together = sized(), apart = sized();
  {
    std::vector<float> scratch(
        static_cast<size_t>(kernels.narrow_attention_scratch(c.keys, c.d_k, c.d_v) +
                            (clip < 0 ? 0 : kernels.narrow_relative_scratch(clip, c.d_k, c.d_v))));
    kernels.narrow_attention_forward(sentence, c.heads, first_index.data(), together.out.data(),
                                     value_width, together.log_sum.data(), c.queries,
                                     scratch.data());
    kernels.narrow_attention_backward(
        sentence, c.heads, first_index.data(),
        {d_out.data(), value_width, together.log_sum.data(), together.dq.data(), together.dk.data(),
         together.dv.data(), together.bias(0, c.keys), together.d_relative_key.data(),
         together.d_relative_value.data()},
        c.queries, scratch.data());
  }
  std::vector<float> scratch(
      static_cast<size_t>(kernels.attention_scratch(c.keys, c.d_k, c.d_v) +
                          (clip < 0 ? 0 : kernels.relative_scratch(clip, c.d_k, c.d_v))));
  for (int64_t h = 0; h < c.heads; ++h) {
    cpu::AttentionHead head = sentence;
    head.query += h * c.d_k, head.key += h * c.d_k, head.value += h * c.d_v;
    head.first_index = first_index[h];
    if (biased) head.bias += h * distances;
    if (clip >= 0) head.relative.key += h * c.d_k, head.relative.value += h * c.d_v;
    float* log_sum = apart.log_sum.data() + h * c.queries;
    kernels.attention_forward(head, apart.out.data() + h * c.d_v, value_width, log_sum,
                              scratch.data());
    kernels.attention_backward(
        head,
        {d_out.data() + h * c.d_v, value_width, log_sum, apart.dq.data() + h * c.d_k,
         apart.dk.data() + h * c.d_k, apart.dv.data() + h * c.d_v, apart.bias(h, c.keys),
         apart.d_relative_key.data() + h * c.d_k, apart.d_relative_value.data() + h * c.d_v},
        scratch.data());
  }
  const auto check = [](const std::vector<float>& a, const std::vector<float>& b, double margin) {
    for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(margin));
  };
  check(together.out, apart.out, 5e-6);
  check(together.log_sum, apart.log_sum, 5e-6);
  check(together.dq, apart.dq, 1e-5);
  check(together.dk, apart.dk, 1e-4);
  check(together.dv, apart.dv, 1e-5);
  check(together.db, apart.db, 1e-4);
  check(together.d_relative_key, apart.d_relative_key, 5e-4);  // sums of gradients that cancel out
  check(together.d_relative_value, apart.d_relative_value, 1e-4);
}

TEST_CASE("NaN in a key reaches its head's outputs and all of its gradients, and no other head") {
  const cpu::Kernels& kernels = each_table();
  const int64_t heads = GENERATE(8, 1), keys = 5, d = 4, width = heads * d;
  CAPTURE(kernels.name, heads);
  Random random(3);
  const auto q = random_floats(random, keys * width), v = random_floats(random, keys * width),
             d_out = random_floats(random, keys * width);
  auto k = random_floats(random, keys * width);
  k[static_cast<size_t>(2 * width)] = std::numeric_limits<float>::quiet_NaN();
  cpu::AttentionHead sentence{};
  sentence.query = q.data(), sentence.key = k.data(), sentence.value = v.data();
  sentence.query_stride = sentence.key_stride = sentence.value_stride = width;
  sentence.d_k = sentence.d_v = d, sentence.queries = sentence.keys = keys;
  std::vector<float> out(q.size()), log_sum(static_cast<size_t>(keys * heads)), dq(q.size()),
      dk(q.size()), dv(q.size());
  const std::vector<uint64_t> first_index(static_cast<size_t>(heads));
  if (heads > 1) {
    std::vector<float> scratch(static_cast<size_t>(kernels.narrow_attention_scratch(keys, d, d)));
    kernels.narrow_attention_forward(sentence, heads, first_index.data(), out.data(), width,
                                     log_sum.data(), keys, scratch.data());
    kernels.narrow_attention_backward(sentence, heads, first_index.data(),
                                      {d_out.data(), width, log_sum.data(), dq.data(), dk.data(),
                                       dv.data(), nullptr, nullptr, nullptr},
                                      keys, scratch.data());
  } else {
    std::vector<float> scratch(static_cast<size_t>(kernels.attention_scratch(keys, d, d)));
    kernels.attention_forward(sentence, out.data(), width, log_sum.data(), scratch.data());
    kernels.attention_backward(sentence,
                               {d_out.data(), width, log_sum.data(), dq.data(), dk.data(),
                                dv.data(), nullptr, nullptr, nullptr},
                               scratch.data());
  }
  for (const auto* values : {&out, &dq, &dk, &dv}) {
    for (size_t i = 0; i < values->size(); ++i) {
      CAPTURE(i);
      CHECK(std::isnan((*values)[i]) == (static_cast<int64_t>(i) % width < d));
    }
  }
}
