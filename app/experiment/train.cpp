#include "app/experiment/train.h"

#include <array>
#include <iostream>
#include <optional>
#include <string_view>

#include "app/experiment/checkpoint.h"
#include "app/experiment/process_group.h"
#include "app/experiment/resume.h"
#include "app/experiment/run_directory.h"
#include "app/experiment/run_result.h"
#include "app/experiment/test_ledger.h"
#include "app/experiment/training_run.h"
#include "app/machine/shell.h"
#include "app/machine/signals.h"
#include "app/machine/version.h"
#include "base/error.h"
#include "base/format.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// The last step of a finished run whose checkpoints, or last optimizer state, were deleted.
// std::nullopt if there are steps left to train or a checkpoint to resume from. If only the last
// weights are missing, training resumes from the checkpoint before.
std::optional<int64_t> finished_by_result(const fs::path& run, const Experiment& experiment) {
  const auto result = finished_result(run, experiment.train);
  if (!result || !result_conflicts(load_description(run), experiment).empty()) return std::nullopt;
  const fs::path checkpoints = RunDirectory(run).checkpoints();
  const auto last = latest_checkpoint(checkpoints);
  const std::array<std::string_view, 2> weights = {kWeightsFile, kConfigFile};
  const auto usable = latest_checkpoint(checkpoints, weights);
  const bool has_last_step = last && last->step >= result->step;
  const bool lost_last_weights = last && !(usable && usable->step >= result->step);
  return has_last_step || lost_last_weights ? std::nullopt : std::optional(result->step);
}

int report_finished(const fs::path& run, int64_t step) {
  if (const auto result = read_result(run); result && result->end == RunEnd::diverged) {
    std::cerr << "attn: " << run.string() << ": diverged at step " << step << "; "
              << kDivergedRemedy << "\n";
    return static_cast<int>(ExitCode::internal);
  }
  std::cerr << run.string() << ": finished at step " << step << "; nothing to do\n";
  return 0;
}

// A finished run is not scored again by other evaluators.
void require_same_result(const fs::path& run, const Experiment& experiment) {
  if (!finished_result(run, experiment.train)) return;
  const std::vector<std::string> changed = result_conflicts(load_description(run), experiment);
  if (changed.empty()) return;
  if (changed.front() == "train.steps") {  // which early stopping did not reach
    throw ConfigError(run.string() +
                      ": ended by train.patience; raise it, or set it to 0, to train on");
  }
  throw ConfigError(
      run.string() + ": finished and scored with a different " + changed.front() +
      "; to score it with other options use attn eval, to train longer raise train.steps");
}

Experiment experiment_of_run(const TrainOptions& options, const fs::path& run) {
  if (!RunDirectory(run).has_config()) {
    throw ConfigError(run.string() + ": not a run directory: " + kConfigFile +
                      " is missing; start a run with attn train CONFIG");
  }
  const Experiment before = load_description(run);
  require_changeable(options.changes);
  std::vector<std::string> assignments = options.assignments;
  assignments.insert(assignments.end(), options.changes.begin(), options.changes.end());
  const Experiment now = fs::is_directory(options.path)
                             ? load_description(run, assignments)
                             : load_experiment(options.path, assignments);
  require_resumable(run, before, now, options.changes);
  return now;
}

// Results are bitwise reproducible only with the same processes and threads, on which the order of
// sums depends. Sets the number of threads to that of the start unless --threads does; returns what
// there is to say about it.
std::string keep_threads(const fs::path& run, const Context& context, int64_t processes) {
  const auto threads = recorded(run, kThreads, kMaxThreads);
  if (!threads || context.device.is_cuda()) return "";
  const int64_t started = recorded(run, kProcesses).value_or(1);
  const bool kept = *threads == torch::get_num_threads();
  if (started == processes && (kept || !context.threads)) {
    torch::set_num_threads(static_cast<int>(*threads));
    return kept ? ""
                : run.string() + ": resuming with " + counted(*threads, "thread") +
                      ", as at the start of the run (--threads overrides this)";
  }
  return run.string() + ": started with " + counted(started, "process", "processes") + " of " +
         counted(*threads, "thread") + ", resuming with " +
         counted(processes, "process", "processes") + " of " +
         counted(torch::get_num_threads(), "thread") +
         "; results may differ from those of an uninterrupted run";
}

struct PlannedTraining {
  fs::path run;
  bool started = false;
  Experiment experiment;
  std::optional<int64_t> finished;  // the last step of a run without checkpoints
};

PlannedTraining plan(const TrainOptions& options) {
  const bool by_run = fs::is_directory(options.path);
  if (by_run && !options.resume) {
    throw ConfigError(options.path.string() + (RunDirectory(options.path).has_run()
                                                   ? ": is a run; use --resume to resume it"
                                                   : ": is a directory; give a config file"));
  }
  const fs::path run = !options.run.empty() ? options.run
                       : by_run             ? options.path
                                            : fs::path("runs") / options.path.stem();
  require_no_checkpoint(run);
  require_place(run, InputKind::run);
  require_no_checkpoint(options.path);
  const bool started = RunDirectory(run).has_run();
  if (!options.changes.empty() && !(started && options.resume)) {
    throw ConfigError("--change " + options.changes.front() +
                      ": changes a run that is resumed (--resume); use --set for a new one");
  }
  if (started && !options.resume) {
    if (!fs::exists(options.path)) load_experiment(options.path);  // a misspelt config
    require_new_run(run);
  }
  PlannedTraining planned{.run = run, .started = started};
  planned.experiment = started || by_run ? experiment_of_run(options, run)
                                         : load_experiment(options.path, options.assignments);
  if (started) planned.finished = finished_by_result(run, planned.experiment);
  if (planned.finished) return planned;
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
  require_same(world, write_experiment(planned.experiment).dump(),
               "config; all processes must read the same files");
  require_same(
      world,
      format("%d %d %lld %d", planned.started, options.resume,
             static_cast<long long>(planned.finished.value_or(-1)), context.threads.value_or(0)) +
          planned.run.filename().string(),
      "command line or run directory; all processes must share " + planned.run.string());
  return planned;
}

int train_with(const TrainOptions& options, const Context& context, const ProcessGroup& processes) {
  Communicator& world = processes.world;
  const PlannedTraining planned = plan_together(options, context, world);
  const fs::path& run = planned.run;
  if (planned.finished) return report_finished(run, *planned.finished);
  std::string threads;
  if (planned.started) {
    on_all_ranks(world, [&] { threads = keep_threads(run, context, world.size()); });
  }
  const Experiment& experiment = planned.experiment;
  TrainingRun training(experiment, run, options.resume, context, options.patience, world,
                       options.changes);
  if (!threads.empty()) training.note(threads);
  const std::string binding = binding_note(processes, context.threads.has_value());
  if (!binding.empty()) training.note(binding);
  if (training.finished()) {
    require_same_result(run, experiment);
    training.write_result();
    return report_finished(run, training.step());
  }
  if (training.run() == LoopEnd::interrupted) {
    training.note(stop_line(run, training.step()));
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
