// Declared in training_run.h.
#include <algorithm>
#include <iostream>

#include "app/experiment/checkpoint.h"
#include "app/experiment/resume.h"
#include "app/experiment/run_result.h"
#include "app/experiment/test_ledger.h"
#include "app/experiment/training_run.h"
#include "app/machine/exit.h"
#include "app/machine/processes.h"
#include "app/machine/version.h"
#include "base/error.h"
#include "base/format.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct PlannedTraining {
  fs::path run;
  bool started = false;
  Experiment experiment;
  std::optional<RunResult> result;   // of a run that is finished according to the config
  std::vector<std::string> changed;  // options with which it would have another result
  bool rescore = false;

  bool nothing_left() const {
    return result && (rescore ? result->end == RunEnd::diverged : changed.empty());
  }
};

// The config of a run that exists, with what is to change, and its result.
void plan_resumed(const TrainOptions& options, PlannedTraining& planned) {
  const fs::path& run = planned.run;
  if (!RunDirectory(run).has_config()) {
    throw ConfigError(run.string() + ": not a run directory: " + kConfigFile +
                      " is missing; start a run with attn train CONFIG");
  }
  const Experiment before = load_description(run);
  require_changeable(options.changes);
  std::vector<Assignment> assignments = options.assignments;
  assignments.insert(assignments.end(), options.changes.begin(), options.changes.end());
  planned.experiment = fs::is_directory(options.path) ? load_description(run, assignments)
                                                      : load_experiment(options.path, assignments);
  require_resumable(run, before, planned.experiment, options.changes);
  planned.result = finished_result(run, planned.experiment.train);
  if (planned.result) {
    const fs::path checkpoints = RunDirectory(run).checkpoints();
    const auto all = list_checkpoints(checkpoints);
    const auto valid = latest_checkpoint(checkpoints);
    // The updates since the last valid checkpoint are repeated.
    if (valid && valid->step < all.back().step) planned.result.reset();
  }
  if (planned.result) planned.changed = result_conflicts(before, planned.experiment);
}

// Results are bitwise reproducible only with the same processes and threads, on which the order of
// sums depends. Sets the number of threads to that of the start unless --threads does; returns what
// there is to say about it.
std::string keep_threads(const fs::path& run, const Context& context, int64_t processes) {
  const auto threads = recorded(run, kThreads, kMaxThreads);
  if (!threads || context.device.is_cuda()) return "";
  const int64_t started = recorded(run, kProcesses).value_or(1);
  const bool same = started == processes;
  if (same && !context.threads) torch::set_num_threads(static_cast<int>(*threads));
  if (same && *threads == torch::get_num_threads()) return "";
  return run.string() + ": started with " + counted(started, "process", "processes") + " of " +
         counted(*threads, "thread") + ", resuming with " +
         counted(processes, "process", "processes") + " of " +
         counted(torch::get_num_threads(), "thread") +
         "; results may differ from those of an uninterrupted run";
}

PlannedTraining plan(const TrainOptions& options) {
  const bool by_run = fs::is_directory(options.path);
  if (by_run && !options.resume) {
    throw ConfigError(options.path.string() + (RunDirectory(options.path).has_run()
                                                   ? ": is a run; use --resume to resume it"
                                                   : ": is a directory; give a config file"));
  }
  PlannedTraining planned{.run = !options.run.empty() ? options.run
                                 : by_run             ? options.path
                                                      : "runs" / options.path.stem(),
                          .rescore = options.rescore};
  const fs::path& run = planned.run;
  if (by_run && fs::weakly_canonical(run) != fs::weakly_canonical(options.path)) {
    throw ConfigError("--run " + run.string() + ": " + options.path.string() +
                      " is a run, which is resumed in place; leave out --run");
  }
  require_place(run, InputKind::run);
  if (by_run) require_input(options.path, {InputKind::run});
  planned.started = RunDirectory(run).has_run();
  if (!options.changes.empty() && !(planned.started && options.resume)) {
    throw ConfigError("--change " + options.changes.front().text +
                      ": changes a run that is resumed (--resume); use --set for a new one");
  }
  if (planned.started && !options.resume) {
    throw ConfigError(
        run.string() +
        ": the run exists; use --resume to resume it, or another directory with --run");
  }
  if (planned.started || by_run) {
    plan_resumed(options, planned);
    if (planned.nothing_left()) return planned;
  } else {
    planned.experiment = load_experiment(options.path, options.assignments);
  }
  planned.experiment.require_texts();
  require_unsealed(planned.experiment.eval);
  return planned;
}

// All processes must be of one program, and see one config and one run directory.
PlannedTraining plan_together(const TrainOptions& options, const Context& context,
                              Communicator& world) {
  PlannedTraining planned;
  on_all_ranks(world, [&] { planned = plan(options); });
  require_same(world, version_line(), "version of attn; install the same everywhere");
  require_same(world, write_config(planned.experiment).dump(),
               "config; all processes must read the same files");
  require_same(world,
               format("%d %d %d %d", planned.started, options.resume, planned.nothing_left(),
                      context.threads.value_or(0)) +
                   planned.run.filename().string(),
               "command line or run directory; all processes must share " + planned.run.string());
  return planned;
}

int report_finished(const fs::path& run, const RunResult& result) {
  const std::string step = std::to_string(result.step);
  if (result.end == RunEnd::diverged) {
    std::cerr << "attn: " << run.string() << ": diverged at step " << step << "; "
              << kDivergedRemedy << "\n";
    return static_cast<int>(ExitCode::internal);
  }
  std::cerr << run.string() << ": finished at step " << step << "; nothing to do\n";
  return 0;
}

// The options in which a finished run differs must be those of its scores, if these are asked for.
void require_rescored(const fs::path& run, const std::vector<std::string>& changed, bool rescore) {
  const auto other = std::ranges::find_if(
      changed, [&](const std::string& path) { return !rescore || !is_scoring(path); });
  if (other == changed.end()) return;
  if (*other == "train.steps") {  // which early stopping did not reach
    throw ConfigError(run.string() +
                      ": ended by train.patience; raise it, or set it to 0, to train on");
  }
  throw ConfigError(run.string() + ": finished and scored with a different " + *other +
                    "; to score it again by other evaluators or another search use --rescore, to "
                    "train longer raise train.steps");
}

int train_with(const TrainOptions& options, const Context& context, const ProcessGroup& processes) {
  exit_on_stop_signals();
  Communicator& world = processes.world;
  PlannedTraining planned = plan_together(options, context, world);
  std::unique_ptr<RunLock> lock;
  if (!planned.nothing_left()) {
    on_rank_zero(world, [&] { lock = std::make_unique<RunLock>(planned.run, options.wait); });
    // Again: the process that had the lock may have started the run.
    planned = plan_together(options, context, world);
  }
  const fs::path& run = planned.run;
  const Experiment& experiment = planned.experiment;
  if (planned.nothing_left()) return report_finished(run, *planned.result);
  std::string threads;
  if (planned.started) {
    on_all_ranks(world, [&] { threads = keep_threads(run, context, world.size()); });
  }
  TrainingRun training(experiment, run, context, world);
  if (!threads.empty()) training.note(threads);
  const std::string binding = binding_note(processes, context.threads.has_value());
  if (!binding.empty()) training.note(binding);
  const bool again = planned.rescore && planned.result;
  if (again && (experiment.train.patience > 0 || !training.finished())) {
    throw ConfigError(run.string() +
                      ": --rescore: early stopping (train.patience) depends on the "
                      "former evaluators; use attn eval");
  }
  if (training.finished()) {
    if (planned.result) require_rescored(run, planned.changed, again);
    if (!training.write_result(again)) return stop_exit_code();
    std::cerr << run.string() << ": finished at step " << training.step() << "\n";
    return 0;
  }
  if (training.run() == LoopEnd::interrupted) {
    training.note("stopped at step " + std::to_string(training.step()) +
                  ", checkpoint saved; resume with: attn train " + shell_word(run.string()) +
                  " --resume");
    return stop_exit_code();
  }
  const char* use = experiment.data.task == Task::parsing ? "parse" : "translate";
  std::cerr << "finished at step " << training.step() << "; " << use << " with: attn " << use << " "
            << shell_word(run.string()) << " < in > out\n";
  return 0;
}

}  // namespace

int train(const TrainOptions& options, const Context& context) {
  return with_processes(context, [&](const Context& own, const ProcessGroup& processes) {
    return train_with(options, own, processes);
  });
}

}  // namespace attn
