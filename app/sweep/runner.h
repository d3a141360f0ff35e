// Runs a sweep's trainings, each in a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

struct RunnerOptions {
  int64_t jobs = 1;             ///< trainings at a time; the cores are shared among them
  std::string device = "auto";  ///< as the program's --device
  int64_t cores = 1;
  int64_t gpus = 0;  ///< jobs take turns on them
};

struct FailedRun {
  std::string name;  ///< "B1/seed-1"
  std::string why;   ///< how it ended and the last line it printed
};

struct SweepEnd {
  int64_t finished = 0;  ///< in all, earlier ones too
  int64_t skipped = 0;   ///< of these, finished before
  std::vector<FailedRun> failed;
  bool interrupted = false;
};

/// What CUDA_VISIBLE_DEVICES is set to for a slot's trainings, which take turns on `gpus` > 0 GPUs:
/// one of those that this process was given by its own variable (numbers or UUIDs; null: not set,
/// and so all of the machine's).
std::string gpu_of_slot(int64_t slot, int64_t gpus, const char* visible);

/// Trains what is not finished, showing a live table on a terminal and lines in a log. A run that
/// fails does not stop the others. SIGINT or SIGTERM (catch_stop_signals) is passed on: the
/// trainings save and stop.
SweepEnd run_sweep(const SweepPlan& plan, const RunnerOptions& options);

/// Trains one run of a prepared plan in this process' place as a job of its own would. Returns the
/// exit code of its training: 0 when it finished.
int run_one(const PlannedRun& run, const RunnerOptions& options);

}  // namespace attn
