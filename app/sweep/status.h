// Status of the runs of a sweep, from their directories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

enum class RunStage {
  waiting,   ///< not started
  started,   ///< started; can be resumed unless check_unchanged says otherwise
  finished,  ///< has a result
  changed    ///< trained with a different config than the row has now
};

struct RunStatus {
  RunStage stage = RunStage::waiting;
  std::vector<std::string> changed;  ///< paths of the changed options
};

/// Throws DataError for an invalid result.
RunStatus inspect_run(const PlannedRun& run);

/// Progress of a run, from its log.
struct RunProgress {
  int64_t step = 0;
  double ppl = 0.0;  ///< perplexity of the last validation; 0: none yet
  double tokens_per_second = 0.0;
  double seconds = 0.0;             ///< training time
  double evaluation_seconds = 0.0;  ///< all evaluations
};
RunProgress read_progress(const PlannedRun& run, const SweepMetrics& metrics);

/// "B1/seed-1".
std::string run_name(const SweepPlan& plan, const PlannedRun& run);

/// Notes on runs that were started with different runtime options from those of their rows.
std::vector<std::string> runtime_notes(const SweepPlan& plan);

/// Throws ConfigError naming runs whose row has changed since they were trained, selected or not,
/// or DataError naming runs whose data files have changed, or which cannot be extended to
/// train.steps since they have no checkpoints.
void check_unchanged(const SweepPlan& plan);

}  // namespace attn
