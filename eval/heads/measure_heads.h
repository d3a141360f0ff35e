// Computes the statistics of all heads on a data set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "eval/heads/head_statistics.h"
#include "eval/tasks/forced_decoding.h"
#include "model/seq2seq.h"

namespace attn {

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
