// Statistics of attention heads on a data set, as defined in the literature. A_ij is the weight of
// key j for query i of one head. Queries are all source tokens without EOS, and all rows of the
// decoder (BOS and the target); means are over all queries of the data set.
#pragma once

#include <cstdint>

#include "model/attention_heads.h"

namespace attn {

struct HeadStatistics {
  HeadId id;
  /// -Σ_j A_ij ln A_ij in nats, over the keys that the query may attend to.
  double entropy = 0.0;
  /// The same divided by the logarithm of the number of these keys; over queries with several keys.
  double relative_entropy = 0.0;
  /// The largest weight of a key other than EOS (Voita et al. 2019).
  double confidence = 0.0;
  /// The most frequent distance from the query to its key of largest weight, EOS left out, and the
  /// share of queries with it: high for positional heads (Voita et al. 2019).
  int64_t offset = 0;
  double positional = 0.0;
  /// Σ_j A_ij |i - j|.
  double distance = 0.0;
  /// |i - the key of largest weight|, EOS left out (Michel et al. 2019, in their code).
  double argmax_distance = 0.0;
  /// Among sentences whose least frequent key is not among the most frequent tokens: the share in
  /// which such a key gets more weight, summed over the queries, than any other (Voita et al.
  /// 2019). NaN without such sentences.
  double rare = 0.0;
  /// Σ_i |context_i · ∂L/∂context_i| per query, with L the negative log-likelihood of the target
  /// without label smoothing (Michel et al. 2019, eq. 2, per position as in their code).
  double importance = 0.0;
  /// The same divided by the Euclidean norm over the heads of the layer, by which heads are ranked.
  double normalized_importance = 0.0;
};

}  // namespace attn
