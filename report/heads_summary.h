// Attention heads in a sweep's report.
#pragma once

#include "report/results.h"
#include "report/table.h"

namespace attn {

/// A line for each row with statistics of heads: their number, the share of the importance that
/// each kind of attention has, BLEU, and the share of heads that can be masked with a loss of at
/// most 1 BLEU. Means over the runs that have them; no lines if none has.
Table heads_summary_table(const SweepResults& results);

}  // namespace attn
