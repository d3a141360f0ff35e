// Training by several processes, started by mpirun or srun: how they join, agree and fail.
#pragma once

#include <functional>
#include <string>

#include "app/machine/device.h"
#include "train/parallel/communicator.h"

namespace attn {

/// Cores of this process and its neighbours.
struct MachineShare {
  int64_t local_rank = 0;       ///< among the processes on this machine
  int64_t local_processes = 1;  ///< on this machine
  int64_t cores = 1;            ///< to which this process is bound
  int64_t shared_cores = 1;     ///< to which any process of this machine is bound
  /// Threads that leave no core idle and none shared.
  int64_t threads() const;
};

struct ProcessGroup {
  Communicator& world;
  MachineShare share;
};

/// A failure of the whole group, which has already been reported.
class GroupFailure : public std::runtime_error {
 public:
  GroupFailure(const std::string& message, int code) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Runs `work` with the processes that a launcher has started together with this one, or with this
/// one alone, and returns the exit code, the same for all. Only the first process writes to stderr.
/// If a process fails on its own, it reports it and ends all of them. Threads (unless --threads
/// says) and GPU are this process's share of the machine. Throws what `work` throws in a process on
/// its own, and ConfigError if the processes were started incorrectly.
int with_processes(
    const Context& context,
    const std::function<int(const Context& own, const ProcessGroup& processes)>& work);

/// Runs `work` in all processes and waits for all. If it fails in one or more of them, the first of
/// these reports it and all throw GroupFailure. A process on its own throws what `work` throws.
void on_all_ranks(Communicator& world, const std::function<void()>& work);

/// Runs `work` in the first process while the others wait. Fails like on_all_ranks().
void on_rank_zero(Communicator& world, const std::function<void()>& work);

/// Throws ConfigError in the first process, naming the process, unless `own` is the same in all.
/// `what`: "config", followed by what to do. To be called by all.
void require_same(Communicator& world, const std::string& own, const std::string& what);

/// A line with the remedy if processes have more threads than cores, or leave cores idle since
/// mpirun has bound them; "" otherwise. The same in all processes.
std::string binding_note(const ProcessGroup& processes, bool threads_given);

}  // namespace attn
