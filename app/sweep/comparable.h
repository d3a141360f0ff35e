// Which rows of a sweep can be compared with their baselines, and what to know when comparing them.
#pragma once

#include <span>

#include "app/experiment/experiment.h"
#include "report/results.h"

namespace attn {

/// Sets RowRecord::incomparable, and adds a note to the results for each reason: a metric that was
/// computed on a different text from the first row's, and perplexity per token of a different
/// vocabulary. `experiments` are those of the rows.
void mark_incomparable(SweepResults& out, std::span<const Experiment> experiments);

/// Adds a note of the runs that were trained in fp32 because their processor does not support
/// their config's bf16.
void note_precisions(SweepResults& out, std::span<const Experiment> experiments);

/// Adds a note for each row whose logged losses equal its baseline's bit for bit, although options
/// differ that decide how it is trained: a fast path or an edited model may have missed the option.
void note_ineffective(SweepResults& out, std::span<const Experiment> experiments);

/// Adds notes of the rows that were trained by formulas as edited, without their fast paths, and of
/// those trained by different commits.
void note_builds(SweepResults& out);

}  // namespace attn
