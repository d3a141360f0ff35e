// Where each run of a sweep stands, as its directory tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

enum class RunStage {
  waiting,   ///< nothing there yet
  begun,     ///< has trained and can go on
  finished,  ///< has its result
  changed    ///< was trained under another config than its row has now
};

struct RunStatus {
  RunStage stage = RunStage::waiting;
  std::vector<std::string> changed;  ///< paths, when the stage says so
};

/// Throws DataError for a broken result.
RunStatus inspect_run(const PlannedRun& run);

/// How far a run's log says it has come.
struct RunProgress {
  int64_t step = 0;
  double ppl = 0.0;  ///< last validation's; 0: none yet
  double tokens_per_second = 0.0;
  double seconds = 0.0;  ///< in training
};
RunProgress read_progress(const PlannedRun& run, const SweepMetrics& metrics);

/// "B1/seed-1".
std::string run_name(const SweepPlan& plan, const PlannedRun& run);

/// Lines on runs that began with another "runtime" than their rows have now: to be reported, since
/// no result changes its meaning by it.
std::vector<std::string> runtime_notes(const SweepPlan& plan);

/// Throws ConfigError naming every run whose row was changed after it had been trained, and
/// DataError naming every run that was trained or scored on other texts than those that its row's
/// paths lead to now.
void refuse_changed(const SweepPlan& plan);

}  // namespace attn
