#include "app/sweep/runner.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "app/experiment/progress_line.h"
#include "app/experiment/run_result.h"
#include "app/machine/exit.h"
#include "app/machine/processes.h"
#include "app/machine/version.h"
#include "app/sweep/mps.h"
#include "base/error.h"
#include "base/format.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

constexpr double kLook = 0.5;             // seconds between polls
constexpr double kWaitForOthers = 120.0;  // seconds for runs of a killed sweep to save and exit

struct Slot {
  pid_t process = 0;  // 0: free
  size_t run = 0;
  std::uintmax_t log_begin = 0;  // size of the run's log when it was started
  std::uintmax_t log_read = 0;   // up to where its warnings have been repeated
  bool mps = false;              // whether it was started under MPS
};

void log(const std::string& line) {
  std::cerr << line << std::endl;
}

// "ppl 6.07  bleu 37.68": the results of a finished run.
std::string results_text(const SweepPlan& plan, const RunResult& result) {
  std::string text;
  for (const MetricFacts& facts : kMetrics) {
    const auto score = result.score(plan.metrics[facts.metric], facts.key);
    if (!score) continue;
    text += std::string(text.empty() ? "" : "  ") + facts.key + " " + decimal(*score, 2);
  }
  return text;
}

// The exit status of a run and its error since `begin`. Also appended to its logs.
std::string record_failure(const PlannedRun& run, const ProcessEnd& end, std::uintmax_t begin) {
  const std::string said = end.signalled ? "" : last_error(run.log(), begin);
  const std::string why = describe(end) + (said.empty() ? "" : ": " + said);
  log_failure(run.log(), why);
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

// An error of config or data, which does not pass.
bool is_own_error(const ProcessEnd& end) {
  return end.exit_code == static_cast<int>(ExitCode::config) ||
         end.exit_code == static_cast<int>(ExitCode::data);
}

// Remaining cores go to the first slots. A started run keeps its number of threads, over all
// processes, since rounding depends on it; on a GPU it does not.
int64_t threads_for(const PlannedRun& run, int64_t slot, const SweepMachine& machine,
                    bool launched) {
  const int64_t cores = machine.cores, jobs = machine.jobs;
  const bool divided = machine.device == "cpu";
  if (const auto started = recorded(run.directory, kThreads, kMaxThreads); divided && started) {
    const int64_t processes = launched ? 1 : recorded(run.directory, kProcesses).value_or(1);
    if (*started * processes <= cores) return *started * processes;
  }
  const int64_t share = cores / jobs, rest = cores % jobs;
  return std::max<int64_t>(1, share + (slot < rest ? 1 : 0));
}

ProcessRequest training(const PlannedRun& run, int64_t slot, const SweepMachine& machine,
                        const std::string& launcher) {
  ProcessRequest request;
  auto& arguments = request.arguments;
  arguments = {(run.program.empty() ? program_path() : run.program).string(), "--device",
               machine.device};
  const auto threads = threads_for(run, slot, machine, !launcher.empty());
  // Processes of one launcher divide the cores of their machine themselves, unless resumed.
  const bool resumed = machine.device == "cpu" && recorded(run.directory, kThreads, machine.cores);
  if (launcher.empty() || machine.threads_given || machine.jobs > 1 || resumed) {
    arguments.insert(arguments.end(), {"--threads", std::to_string(threads)});
  }
  arguments.insert(arguments.end(),
                   {"train", run.config().string(), "--run", run.directory.string(), "--wait",
                    std::to_string(kWaitForOthers), "--resume"});
  if (run.rescore) arguments.push_back("--rescore");
  request.launcher = launcher;
  if (machine.gpus > 1 && machine.jobs > 1) {
    request.environment["CUDA_VISIBLE_DEVICES"] =
        gpu_of_slot(slot, machine.gpus, std::getenv("CUDA_VISIBLE_DEVICES"));
  }
  request.output = run.log();
  return request;
}

class Sweep {
 public:
  Sweep(const SweepPlan& plan, const SweepMachine& machine, const std::string& launcher)
      : plan_(plan), machine_(machine), launcher_(launcher) {
    slots_.resize(static_cast<size_t>(machine.jobs));
    for (size_t i = 0; i < plan.runs.size(); ++i) {
      const bool finished = plan.runs[i].finished;
      if (finished && read_result(plan.runs[i].directory)->end == RunEnd::diverged) {
        fail(i, std::string("diverged; ") + kDivergedRemedy);
      } else if (finished) {
        ++end_.finished;
      } else {
        waiting_.push_back(i);
      }
    }
    std::reverse(waiting_.begin(), waiting_.end());  // taken from the back
    const bool mps = machine.gpus > 0 && waiting_.size() > 1 && machine.jobs > machine.gpus &&
                     std::ranges::none_of(plan.runs, [](const PlannedRun& run) {
                       return run.experiment.runtime.mps == Use::off;
                     });
    if (!mps) return;
    mps_.emplace(MpsServer::folder_of(plan.directory));
    if (!mps_->note().empty()) log(mps_->note());
  }

  SweepEnd run() {
    if (const int64_t before = end_.finished; before > 0) {
      log(counted(before, "run") + (before == 1 ? " is" : " are") + " already finished");
    }
    while (true) {
      if (stop_requested() && !end_.interrupted) stop_all();
      if (!end_.interrupted) start_free();
      if (running() == 0) break;
      ProcessEnd end;
      if (const pid_t process = wait_for_process(kLook, end); process > 0) finish(process, end);
      show_progress();
    }
    return end_;
  }

 private:
  // "3 of 60 runs finished; B1/seed-1 4200/10000 ppl 6.31", once a minute on a terminal, elsewhere
  // every five.
  void show_progress() {
    if (Clock::now() - shown_ < std::chrono::minutes(draws_on_stderr() ? 1 : 5)) return;
    shown_ = Clock::now();
    std::string running;
    for (Slot& slot : slots_) {
      if (slot.process == 0) continue;
      repeat_warnings(slot);
      try {
        running += "; " + progress_of(plan_.runs[slot.run], plan_.metrics);
      } catch (const std::exception& error) {  // a file system may fail for a while
        running += std::string("; ") + error.what();
      }
    }
    log(std::to_string(end_.finished) + " of " + std::to_string(plan_.runs.size()) +
        " runs finished" + running);
  }

  // Those of the run's log since the last call, each once in a sweep: rows and seeds share most.
  void repeat_warnings(Slot& slot) {
    const PlannedRun& run = plan_.runs[slot.run];
    std::ifstream file(run.log(), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(slot.log_read));
    for (std::string line; std::getline(file, line) && !file.eof();) {
      slot.log_read += line.size() + 1;
      if (!line.starts_with("warning: ") || !warnings_.insert(line).second) continue;
      log(run.name + ": " + printable(line));
    }
  }

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
      slot.log_begin = fs::is_regular_file(run.log()) ? fs::file_size(run.log()) : 0;
      slot.log_read = slot.log_begin;
      ProcessRequest request = training(run, &slot - slots_.data(), machine_, launcher_);
      slot.mps = mps_ && !mps_->environment().empty() && !without_mps_.contains(slot.run);
      if (slot.mps) request.environment.merge(std::map(mps_->environment()));
      slot.process = start_process(request);
    } catch (const std::exception& error) {
      return fail(slot.run, std::string("not started: ") + error.what());
    }
    log(run.name + (run.rescore ? ": scoring again" : ": training"));
  }

  void fail(size_t run, const std::string& why) {
    end_.failed.push_back(plan_.runs[run].name + ": " + why);
    log(plan_.runs[run].name + ": FAILED  " + why);
  }

  void stop_all() {
    end_.interrupted = true;
    log("stopping: saving all runs");
    for (const Slot& slot : slots_) {
      if (slot.process > 0) ::kill(-slot.process, SIGTERM);  // with what a launcher has started
    }
  }

  void finish(pid_t process, const ProcessEnd& end) {
    const auto slot = std::ranges::find(slots_, process, &Slot::process);
    if (slot == slots_.end()) return;
    slot->process = 0;
    repeat_warnings(*slot);
    try {
      note_end(*slot, end);
    } catch (const std::exception& error) {  // a damaged result.json
      fail(slot->run, error.what());
    }
  }

  void note_end(const Slot& slot, const ProcessEnd& end) {
    const PlannedRun& run = plan_.runs[slot.run];
    const auto result = finished_result(run.directory, run.experiment.train);
    if (end.exit_code == 0 && result) {
      log(run.name + ": finished  " + results_text(plan_, *result));
      const std::string why = collect_run(plan_, run);
      why.empty() ? void(++end_.finished) : fail(slot.run, why);
    } else if (end.exit_code == static_cast<int>(ExitCode::busy)) {
      log(run.name + ": another process trains it");
    } else if (slot.mps && !end_.interrupted && !was_stopped(end) && !result &&
               !is_own_error(end)) {
      // The end of the server, or a fault of one run, ends all runs of a GPU.
      log(run.name + ": " + record_failure(run, end, slot.log_begin) + "; resuming it without MPS");
      without_mps_.insert(slot.run);
      waiting_.push_back(slot.run);
    } else if (!end_.interrupted && !was_stopped(end)) {
      fail(slot.run, record_failure(run, end, slot.log_begin));
    }
  }

  const SweepPlan& plan_;
  SweepMachine machine_;
  std::string launcher_;
  Clock::time_point shown_ = Clock::now();
  std::vector<Slot> slots_;
  std::vector<size_t> waiting_;
  std::optional<MpsServer> mps_;
  std::set<size_t> without_mps_;  // runs that failed under it
  std::set<std::string> warnings_;
  SweepEnd end_;
};

}  // namespace

std::string gpu_of_slot(int64_t slot, int64_t gpus, const char* visible) {
  const int64_t turn = slot % gpus;
  if (visible == nullptr) return std::to_string(turn);
  std::istringstream list(visible);
  std::string name;  // the last one if there are fewer
  for (int64_t i = 0; i <= turn; ++i) std::getline(list, name, ',');
  std::erase(name, ' ');
  return name;
}

std::string progress_of(const PlannedRun& run, const SweepMetrics& metrics) {
  int64_t step = 0;
  double ppl = 0.0;
  for (const Json& record : read_metrics(run.directory)) {
    const std::string kind = record.value("kind", "");
    if (kind == "train") step = step_of(record);
    if (kind == "eval" && record.value("name", "") == metrics[Metric::loss]) {
      ppl = number_at(record, "ppl").value_or(0);
    }
  }
  return format("%s %ld/%ld", run.name.c_str(), step, run.experiment.train.steps) +
         (ppl > 0 ? " ppl " + decimal(ppl, 2) : "");
}

SweepEnd run_sweep(const SweepPlan& plan, const SweepMachine& machine,
                   const std::string& launcher) {
  return Sweep(plan, machine, launcher).run();
}

}  // namespace attn
