// Running sums behind the statistics of one head.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "eval/heads/head_statistics.h"

namespace attn {

/// The weights of one head on one sentence.
struct HeadWeights {
  const float* weights = nullptr;  ///< [queries, stride]
  int64_t queries = 0;             ///< rows that count
  int64_t keys = 0;                ///< EOS included
  int64_t stride = 0;
  bool causal = false;  ///< query i has the keys 0 to i
  /// The keys that may be an argmax: all, or all but EOS at the end.
  int64_t named_keys = 0;
  /// Frequency of each named key in the data set; empty for a sentence without rare tokens.
  std::span<const int64_t> frequencies;
};

class HeadCounts {
 public:
  void add(const HeadWeights& head);
  /// Everything but the importance.
  HeadStatistics statistics() const;

 private:
  void add_query(const HeadWeights& head, int64_t query);
  void add_rare(const HeadWeights& head);

  int64_t queries_ = 0, uncertain_ = 0, rare_sentences_ = 0, rare_hits_ = 0;
  double entropy_ = 0.0, relative_ = 0.0, confidence_ = 0.0, distance_ = 0.0, argmax_ = 0.0;
  std::map<int64_t, int64_t> offsets_;
};

}  // namespace attn
