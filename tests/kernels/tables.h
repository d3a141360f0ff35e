// The kernel tables under test, and random input for them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/support/catch.h"

namespace attn::testing {

using Sizes = std::tuple<int64_t, int64_t, int64_t>;

/// Uniform in [-1, 1).
inline std::vector<float> random_floats(Random& random, int64_t n) {
  std::vector<float> out(static_cast<size_t>(n));
  for (float& x : out) x = static_cast<float>(2 * random.uniform() - 1);
  return out;
}

/// Dropout of weights with probability `p`; none with 0.
inline cpu::DropoutKey dropout_of(double p) {
  if (p == 0.0) return {};
  return {.key = 77,
          .threshold = static_cast<uint32_t>(p * 4294967296.0),
          .scale = static_cast<float>(1 / (1 - p))};
}

/// Whether a query may attend to a key, as AttentionHead's `causal` and `window` say.
inline bool attends(bool causal, int64_t window, int64_t query, int64_t key) {
  if (causal && key > query) return false;
  if (window == 0) return true;
  return causal ? query - key < window : std::abs(query - key) <= window / 2;
}

/// Runs the test case once for every implementation that the machine supports; the last one is
/// plain C++.
template <class Table>
const Table& each_of(const Table* (*supported)(int64_t)) {
  std::vector<const Table*> tables;
  while (const auto* table = supported(static_cast<int64_t>(tables.size()))) {
    tables.push_back(table);
  }
  REQUIRE(tables.back()->name == std::string("generic"));
  return *GENERATE_COPY(from_range(tables));
}
inline const cpu::Kernels& each_table() {
  return each_of(cpu::supported);
}

inline float of_bf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

/// To nearest even; not for NaN.
inline uint16_t to_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// A head whose operands have no other columns. They must live as long as it is used.
inline cpu::AttentionHead head_of(const std::vector<float>& query, const std::vector<float>& key,
                                  const std::vector<float>& value, int64_t queries, int64_t keys) {
  cpu::AttentionHead head{};
  head.query = query.data(), head.key = key.data(), head.value = value.data();
  head.queries = queries, head.keys = keys;
  head.query_stride = head.d_k = static_cast<int64_t>(query.size()) / queries;
  head.key_stride = head.d_k;
  head.value_stride = head.d_v = keys > 0 ? static_cast<int64_t>(value.size()) / keys : head.d_k;
  return head;
}

/// Of exactly the required sizes.
struct AttentionResults {
  std::vector<float> out, log_sum, dq, dk, dv;
};

/// Attention, and its gradients for those of its output.
inline AttentionResults attention(const cpu::Kernels& kernels, const cpu::AttentionHead& head,
                                  const std::vector<float>& d_out) {
  const auto floats = [](int64_t n) { return std::vector<float>(static_cast<size_t>(n)); };
  AttentionResults results{floats(head.queries * head.d_v), floats(head.queries),
                           floats(head.queries * head.d_k), floats(head.keys * head.d_k),
                           floats(head.keys * head.d_v)};
  auto& [out, log_sum, dq, dk, dv] = results;
  auto scratch = floats(kernels.attention_scratch(head.keys, head.d_k, head.d_v));
  kernels.attention_forward(head, out.data(), head.d_v, log_sum.data(), scratch.data());
  kernels.attention_backward(
      head, {d_out.data(), head.d_v, log_sum.data(), dq.data(), dk.data(), dv.data()},
      scratch.data());
  return results;
}

}  // namespace attn::testing
