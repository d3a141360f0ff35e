// Statistics of attention heads on a data set, as defined in the literature. A_ij is the weight of
// key j for query i of one head. Queries are all source tokens without EOS, and all rows of the
// decoder (BOS and the target); means are over all queries of the data set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "eval/tasks/forced_decoding.h"
#include "model/attention_heads.h"
#include "model/seq2seq.h"

namespace attn {

struct HeadStatistics {
  HeadId id;
  /// -Σ_j A_ij ln A_ij in nats, over the keys that the query may attend to.
  double entropy = 0.0;
  /// The same divided by the logarithm of the number of keys, those outside a window of restricted
  /// attention included; over queries with several keys.
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

struct HeadStatisticsOptions {
  int64_t common_tokens = 500;  ///< number of most frequent tokens of a side that are not rare
  int64_t batch_tokens = 2048;  ///< padded tokens of a batch
};

/// The statistics of all heads, in the order of all_heads(). Frequencies are those of `pairs`. Sets
/// the model to evaluation mode and leaves its gradients undefined. Throws ConfigError for a model
/// without heads.
std::vector<HeadStatistics> head_statistics(Seq2SeqModel& model, const Tokenizers& tokenizers,
                                            std::span<const ScoredPair> pairs,
                                            const HeadStatisticsOptions& options = {});

/// The heads by normalized importance, the least important first; ties in the order given.
std::vector<HeadId> by_importance(std::span<const HeadStatistics> heads);

}  // namespace attn
