// The attention weights of a model on pairs of sentences, as the data of a page.
#pragma once

#include <vector>

#include "app/experiment/checkpoint.h"
#include "app/inspect/pairs.h"
#include "report/attention_page.h"

namespace attn {

/// Teacher-forced, by the reference implementation of attention. Unknown words are labelled with
/// themselves. Throws ConfigError for more than 2^26 weights (about 350 MB of JSON) and for a model
/// without attention.
std::vector<AttentionSentence> attention_of(LoadedModel& loaded, const SelectedPairs& selected);

}  // namespace attn
