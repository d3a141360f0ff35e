// The attention weights of a model on pairs of sentences, as the data of a page.
#pragma once

#include <span>

#include "app/experiment/checkpoint.h"
#include "eval/tasks/forced_batch.h"
#include "report/attention_page.h"

namespace attn {

/// Teacher-forced, by the reference implementation of attention. Throws ConfigError for more than
/// 2^26 weights, about 350 MB of JSON, and for a model without attention.
std::vector<AttentionSentence> attention_of(LoadedModel& loaded, std::span<const ForcedPair> pairs);

}  // namespace attn
