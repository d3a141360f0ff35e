// A sweep as a Slurm job array: one task per run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// Options of attn that a task passes on.
struct SlurmCommand {
  std::string device;          ///< --device
  std::optional<int> threads;  ///< --threads; std::nullopt: as many as Slurm gives the task cores
};

/// The --device of a task: a job that was to have a GPU must not train on its cores for want of
/// one.
std::string task_device(const SlurmConfig& slurm, const std::string& device);

/// The batch script. A task trains one run from the config that prepare_sweep wrote. Shortly before
/// the time limit Slurm sends SIGUSR1: the run saves and stops, and the task is requeued until its
/// run has finished. On SIGTERM (scancel) the run saves and stops without requeueing. Throws
/// ConfigError for names that #SBATCH cannot represent.
std::string slurm_script(const SweepPlan& plan, const SlurmCommand& command);

/// Writes SWEEP/slurm.sh and, if `submit`, submits it with sbatch. Returns sbatch's output, or the
/// path of the script. Throws DataError if sbatch is missing or fails.
std::string submit_to_slurm(const SweepPlan& plan, const SlurmCommand& command, bool submit);

}  // namespace attn
