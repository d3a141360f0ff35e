// Trains the runs of a sweep, each in its own process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

struct RunnerOptions {
  SweepMachine machine;
  bool mps = false;                  ///< runs share a GPU under MPS (app/sweep/mps.h)
  std::string launcher;              ///< starts a run: "mpirun -np 2"; empty: one process
  std::filesystem::path collection;  ///< finished runs are added to it; empty: none
};

struct FailedRun {
  std::string name;  ///< "B1/seed-1"
  std::string why;   ///< exit status and last line of output
};

struct SweepEnd {
  int64_t finished = 0;  ///< in total, including earlier ones
  std::vector<FailedRun> failed;
  bool interrupted = false;
};

/// CUDA_VISIBLE_DEVICES for a slot: one of `gpus` > 0 GPUs. `visible` is this process's own
/// CUDA_VISIBLE_DEVICES (indices or UUIDs; null: unset, all GPUs).
std::string gpu_of_slot(int64_t slot, int64_t gpus, const char* visible);

/// Trains all unfinished runs. A failing run does not stop the others. SIGINT and SIGTERM
/// (catch_stop_signals) are forwarded: the runs save and stop.
SweepEnd run_sweep(const SweepPlan& plan, const RunnerOptions& options);

}  // namespace attn
