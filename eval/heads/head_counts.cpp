#include "eval/heads/head_counts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace attn {

void HeadCounts::add(const HeadWeights& head) {
  for (int64_t query = 0; query < head.queries; ++query) add_query(head, query);
  if (!head.frequencies.empty()) add_rare(head);
}

void HeadCounts::add_query(const HeadWeights& head, int64_t query) {
  const int64_t keys = head.causal ? std::min(query + 1, head.keys) : head.keys;
  const std::span<const float> row(head.weights + query * head.stride, static_cast<size_t>(keys));
  double entropy = 0.0;
  for (int64_t key = 0; key < keys; ++key) {
    const double weight = row[static_cast<size_t>(key)];
    if (weight > 0.0) entropy -= weight * std::log(weight);
    distance_ += weight * static_cast<double>(std::abs(key - query));
  }
  entropy_ += entropy;
  if (keys > 1) {
    relative_ += entropy / std::log(static_cast<double>(keys));
    ++uncertain_;
  }
  ++queries_;
  TORCH_CHECK(head.named_keys > 0, "named_keys must be positive");
  const auto named = row.first(static_cast<size_t>(std::min(keys, head.named_keys)));
  const auto best = std::max_element(named.begin(), named.end());
  const int64_t offset = (best - named.begin()) - query;
  confidence_ += *best;
  argmax_ += static_cast<double>(std::abs(offset));
  ++offsets_[offset];
}

void HeadCounts::add_rare(const HeadWeights& head) {
  std::vector<double> sums(static_cast<size_t>(head.named_keys));
  for (int64_t query = 0; query < head.queries; ++query) {
    for (size_t key = 0; key < sums.size(); ++key) {
      sums[key] += head.weights[query * head.stride + static_cast<int64_t>(key)];
    }
  }
  const auto most_weighted = std::max_element(sums.begin(), sums.end()) - sums.begin();
  rare_hits_ += head.frequencies[static_cast<size_t>(most_weighted)] ==
                *std::min_element(head.frequencies.begin(), head.frequencies.end());
  ++rare_sentences_;
}

HeadStatistics HeadCounts::statistics() const {
  HeadStatistics out;
  const auto queries = static_cast<double>(std::max<int64_t>(queries_, 1));
  out.entropy = entropy_ / queries;
  out.relative_entropy = relative_ / static_cast<double>(std::max<int64_t>(uncertain_, 1));
  out.confidence = confidence_ / queries;
  out.distance = distance_ / queries;
  out.argmax_distance = argmax_ / queries;
  int64_t max_count = 0;
  for (const auto& [offset, count] : offsets_) {
    if (count > max_count) out.offset = offset;
    max_count = std::max(max_count, count);
  }
  out.positional = static_cast<double>(max_count) / queries;
  out.rare = rare_sentences_ == 0
                 ? std::numeric_limits<double>::quiet_NaN()
                 : static_cast<double>(rare_hits_) / static_cast<double>(rare_sentences_);
  return out;
}

}  // namespace attn
