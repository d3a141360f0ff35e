// Trains the runs of a sweep, each in its own process, or as a Slurm job array: one task per run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

struct SweepEnd {
  size_t finished = 0;              ///< runs, including earlier ones
  std::vector<std::string> failed;  ///< "ROW/seed-1: why"
  bool interrupted = false;
};

/// CUDA_VISIBLE_DEVICES for a slot: one of `gpus` > 0 GPUs. `visible` is this process's own
/// CUDA_VISIBLE_DEVICES (indices or UUIDs; null: unset, all GPUs).
std::string gpu_of_slot(int64_t slot, int64_t gpus, const char* visible);

/// "B1/seed-1 4200/10000 ppl 6.31": the step of a run, and its last perplexity on validation.
std::string progress_of(const PlannedRun& run, const SweepMetrics& metrics);

/// Trains all unfinished runs, under MPS where they share GPUs, and adds them to the collection.
/// `launcher` starts each: "mpirun -np 2"; empty: as one process. A failing run does not stop the
/// others. SIGINT and SIGTERM (catch_stop_signals) are forwarded: the runs save and stop.
SweepEnd run_sweep(const SweepPlan& plan, const SweepMachine& machine, const std::string& launcher);

/// The batch script. A task trains one run from the config that prepare_sweep wrote. Shortly before
/// the time limit Slurm sends SIGUSR1: the run saves and stops, and the task is requeued until its
/// run has finished. On SIGTERM (scancel) the run saves and stops without requeueing. `device` and
/// `threads` are passed on; std::nullopt: as many threads as Slurm gives the task cores.
std::string slurm_script(const SweepPlan& plan, const std::string& device,
                         std::optional<int> threads);

/// Writes SWEEP/slurm.sh and, if `submit`, submits it with sbatch. Returns sbatch's output, or the
/// path of the script. Throws DataError if sbatch is missing or fails.
std::string submit_to_slurm(const SweepPlan& plan, const std::string& device,
                            std::optional<int> threads, bool submit);

}  // namespace attn
