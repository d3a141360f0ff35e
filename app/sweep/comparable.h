// Which rows of a sweep can be compared with the first one.
#pragma once

#include "report/results.h"

namespace attn {

/// Sets RowRecord::incomparable, and adds a note to the results for each reason: a metric that was
/// computed on another text than the first row's, and perplexity per token of another vocabulary.
void mark_incomparable(SweepResults& out);

}  // namespace attn
