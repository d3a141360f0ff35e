#include "app/sweep/runner.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "app/experiment/failure.h"
#include "app/experiment/run_result.h"
#include "app/machine/signals.h"
#include "app/sweep/collection.h"
#include "app/sweep/costs.h"
#include "app/sweep/prepare.h"
#include "app/sweep/processes.h"
#include "app/sweep/progress.h"
#include "app/sweep/status.h"
#include "base/error.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr double kLook = 0.5;             // seconds between polls
constexpr double kWaitForOthers = 120.0;  // seconds for runs of a killed sweep to save and exit

struct Slot {
  int64_t index = 0;
  pid_t process = 0;  // 0: free
  size_t run = 0;
  std::uintmax_t log_begin = 0;  // size of the run's log when it was started
};

std::uintmax_t log_size(const PlannedRun& run) {
  std::error_code none;
  const std::uintmax_t size = fs::file_size(run_log(run), none);
  return none ? 0 : size;
}

// The exit status of a run and its error since `begin`. Also appended to its logs.
std::string failure_of(const PlannedRun& run, const ProcessEnd& end, std::uintmax_t begin) {
  const std::string said = end.signalled ? "" : last_error(run_log(run), begin);
  const std::string why = describe(end) + (said.empty() ? "" : ": " + said);
  log_failure(run_log(run), why);
  // A killed process cannot log its own failure.
  const RunDirectory directory(run.directory);
  if (end.signalled && fs::exists(directory.log())) log_failure(directory.log(), why);
  return why;
}

// Exit codes of attn after saving (stop_exit_code). A launcher has others, such as 137, for
// processes that were killed.
bool was_stopped(const ProcessEnd& end) {
  const int number = end.exit_code - 128;
  return !end.signalled && (number == SIGINT || number == SIGTERM || number == SIGHUP);
}

// Remaining cores go to the first slots.
int64_t threads_of(int64_t slot, const RunnerOptions& options) {
  const int64_t share = options.cores / options.jobs, rest = options.cores % options.jobs;
  return std::max<int64_t>(1, share + (slot < rest ? 1 : 0));
}

// A started run keeps its number of threads, over all processes, since rounding depends on it.
int64_t threads_for(const PlannedRun& run, int64_t slot, const RunnerOptions& options) {
  if (const auto started = recorded_threads(run.directory)) {
    const int64_t parts =
        options.launcher.empty() ? *started * recorded_processes(run.directory) : *started;
    if (parts <= options.cores) return parts;
  }
  return threads_of(slot, options);
}

ProcessRequest training(const PlannedRun& run, int64_t slot, const RunnerOptions& options) {
  ProcessRequest request;
  request.arguments = {program_path().string(),
                       "--device",
                       options.device,
                       "--threads",
                       std::to_string(threads_for(run, slot, options)),
                       "train",
                       run_config(run).string(),
                       "--run",
                       run.directory.string(),
                       "--wait",
                       std::to_string(kWaitForOthers),
                       "--resume"};
  if (!options.launcher.empty()) {
    const std::vector<std::string> shell{"/bin/sh", "-c", "exec " + options.launcher + " \"$@\"",
                                         "sh"};
    request.arguments.insert(request.arguments.begin(), shell.begin(), shell.end());
  }
  if (options.gpus > 1 && options.jobs > 1) {
    request.environment["CUDA_VISIBLE_DEVICES"] =
        gpu_of_slot(slot, options.gpus, std::getenv("CUDA_VISIBLE_DEVICES"));
  }
  request.output = run_log(run);
  return request;
}

class Sweep {
 public:
  Sweep(const SweepPlan& plan, const RunnerOptions& options)
      : plan_(plan), options_(options), progress_(plan, options.jobs) {
    program_path();  // without a launcher, later runs have this version even after a build
    const int64_t slots = std::min(options.jobs, static_cast<int64_t>(plan.runs.size()));
    for (int64_t i = 0; i < slots; ++i) slots_.push_back({.index = i});
    for (const size_t i : start_order(plan)) {
      const bool finished = inspect_run(plan.runs[i]).stage == RunStage::finished;
      if (finished && read_result(plan.runs[i].directory)->end == RunEnd::diverged) {
        fail(i, std::string("diverged; ") + kDivergedRemedy);
      } else if (finished) {
        ++end_.skipped;
        progress_.set(i, RunWork::Stage::finished);
      } else {
        waiting_.push_back(i);
      }
    }
    end_.finished = end_.skipped;
    std::reverse(waiting_.begin(), waiting_.end());  // taken from the back
  }

  SweepEnd run() {
    if (end_.skipped > 0) {
      progress_.log(std::to_string(end_.skipped) + (end_.skipped == 1
                                                        ? " run is already finished"
                                                        : " runs are already finished"));
    }
    while (true) {
      if (stop_requested() && !end_.interrupted) stop_all();
      if (!end_.interrupted) start_free();
      if (running() == 0) break;
      ProcessEnd end;
      if (const pid_t process = wait_for_process(kLook, end); process > 0) finish(process, end);
      progress_.show();
    }
    return end_;
  }

 private:
  int64_t running() const {
    return std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.process > 0; });
  }

  void start_free() {
    for (Slot& slot : slots_) {
      while (slot.process == 0 && !waiting_.empty()) {
        slot.run = waiting_.back();
        waiting_.pop_back();
        start(slot);
      }
    }
  }

  // The other runs go on if one cannot be started, e.g. because its directory has been deleted.
  void start(Slot& slot) {
    const PlannedRun& run = plan_.runs[slot.run];
    try {
      slot.log_begin = log_size(run);
      slot.process = start_process(training(run, slot.index, options_));
    } catch (const std::exception& error) {
      return fail(slot.run, std::string("not started: ") + error.what());
    }
    progress_.set(slot.run, RunWork::Stage::running);
    progress_.log(run_name(plan_, run) + ": training");
  }

  void fail(size_t run, const std::string& why) {
    const std::string name = run_name(plan_, plan_.runs[run]);
    end_.failed.push_back({name, why});
    progress_.set(run, RunWork::Stage::stopped);
    progress_.log(name + ": FAILED  " + why);
  }

  void stop_all() {
    end_.interrupted = true;
    progress_.log("stopping: saving all runs");
    for (const Slot& slot : slots_) {
      if (slot.process > 0) ::kill(slot.process, SIGTERM);
    }
  }

  void finish(pid_t process, const ProcessEnd& end) {
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [&](const Slot& s) { return s.process == process; });
    if (slot == slots_.end()) return;
    slot->process = 0;
    try {
      note_end(*slot, end);
    } catch (const std::exception& error) {  // its result.json is damaged
      fail(slot->run, error.what());
    }
  }

  void note_end(const Slot& slot, const ProcessEnd& end) {
    const PlannedRun& run = plan_.runs[slot.run];
    const std::string name = run_name(plan_, run);
    if (end.exit_code == 0 && finished_result(run.directory, run.experiment.train)) {
      progress_.set(slot.run, RunWork::Stage::finished);
      progress_.log(name + ": finished  " + results_text(plan_, run));
      collect(run, name);
    } else if (end_.interrupted || was_stopped(end)) {
      progress_.set(slot.run, RunWork::Stage::stopped);
    } else {
      fail(slot.run, failure_of(run, end, slot.log_begin));
    }
  }

  // The other runs go on if a finished one cannot be collected.
  void collect(const PlannedRun& run, const std::string& name) {
    try {
      if (!options_.collection.empty()) collect_run(run, options_.collection);
      ++end_.finished;
    } catch (const std::exception& error) {
      end_.failed.push_back({name, std::string("finished, but not collected: ") + error.what()});
      progress_.log(name + ": not collected  " + error.what());
    }
  }

  const SweepPlan& plan_;
  RunnerOptions options_;
  SweepProgress progress_;
  std::vector<Slot> slots_;
  std::vector<size_t> waiting_;
  SweepEnd end_;
};

}  // namespace

std::string gpu_of_slot(int64_t slot, int64_t gpus, const char* visible) {
  const int64_t turn = slot % gpus;
  if (visible == nullptr) return std::to_string(turn);
  std::string_view list = visible;
  for (int64_t i = 0;; ++i) {
    const size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (i == turn || comma == std::string_view::npos) return std::string(name);
    list.remove_prefix(comma + 1);
  }
}

SweepEnd run_sweep(const SweepPlan& plan, const RunnerOptions& options) {
  return Sweep(plan, options).run();
}

}  // namespace attn
