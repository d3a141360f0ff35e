#include "app/experiment/train.h"

#include <array>
#include <iostream>
#include <optional>
#include <string_view>

#include "app/experiment/checkpoint.h"
#include "app/experiment/resume.h"
#include "app/experiment/run_result.h"
#include "app/experiment/text_keys.h"
#include "app/experiment/training_run.h"
#include "app/machine/signals.h"
#include "base/error.h"
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
  const bool to_ask = last && last->step >= result->step;
  const bool to_train = last && !(usable && usable->step >= result->step);
  return to_ask || to_train ? std::nullopt : std::optional(result->step);
}

int report_finished(const fs::path& run, int64_t step) {
  std::cerr << run.string() << ": finished at step " << step << "; nothing to do\n";
  return 0;
}

Experiment experiment_of_run(const TrainOptions& options, const fs::path& run) {
  if (!RunDirectory(run).has_config()) {
    throw ConfigError(run.string() + ": not a run directory: " + kConfigFile +
                      " is missing; start a run with attn train CONFIG");
  }
  const Experiment before = load_description(run);
  const Experiment now = fs::is_directory(options.path)
                             ? load_description(run, options.assignments)
                             : load_experiment(options.path, options.assignments);
  auto conflicts = resume_conflicts(before, now);
  // The vocabulary may still change before the first checkpoint.
  if (!RunDirectory(run).has_trained()) {
    std::erase_if(conflicts, [](const std::string& path) {
      return path == "data.source_model" || path == "data.target_model";
    });
  }
  if (!conflicts.empty()) {
    throw ConfigError(run.string() + ": " + conflicts.front() +
                      " differs from the run's config.json; resume with the old value, or start "
                      "a new run with --run");
  }
  for (const std::string& change : runtime_changes(before, now)) {
    std::cerr << run.string() << ": " << change << "; resuming with the new value\n";
  }
  return now;
}

// Results are bitwise reproducible only with the same number of threads.
void keep_threads(const fs::path& run, const Context& context) {
  const auto begun = recorded_threads(run);
  const int now = torch::get_num_threads();
  if (!begun || *begun == now || context.device.is_cuda()) return;
  if (context.threads) {
    std::cerr << run.string() << ": started with " << *begun << " threads, resuming with " << now
              << " (--threads); results may differ in the last digits from an uninterrupted run\n";
    return;
  }
  torch::set_num_threads(static_cast<int>(*begun));
  std::cerr << run.string() << ": resuming with " << *begun
            << " threads, as at the start of the run (--threads overrides this)\n";
}

}  // namespace

int train(const TrainOptions& options, const Context& context) {
  const bool by_run = fs::is_directory(options.path);
  if (by_run && !options.resume) {
    throw ConfigError(options.path.string() + ": is a directory; use --resume to resume a run");
  }
  const fs::path run = !options.run.empty() ? options.run
                       : by_run             ? options.path
                                            : fs::path("runs") / options.path.stem();
  require_no_checkpoint(run);
  if (by_run || checkpoint_selector(options.path)) require_no_checkpoint(options.path);
  const bool begun = RunDirectory(run).has_run();
  if (begun && !options.resume) {
    throw ConfigError(run.string() +
                      ": the run exists; use --resume to resume it, or another directory with "
                      "--run");
  }
  const Experiment experiment = begun || by_run
                                    ? experiment_of_run(options, run)
                                    : load_experiment(options.path, options.assignments);
  if (begun) {
    if (const auto step = finished_by_result(run, experiment)) return report_finished(run, *step);
  }
  experiment.data.require_texts();
  catch_stop_signals();
  if (begun) keep_threads(run, context);
  TrainingRun training(experiment, run, options.resume, context, options.patience);
  if (training.finished()) {
    training.write_result();
    return report_finished(run, training.step());
  }
  if (training.run() == LoopEnd::interrupted) {
    std::cerr << "stopped at step " << training.step()
              << ", checkpoint saved; resume with: attn train " << run.string() << " --resume\n";
    return stop_exit_code();
  }
  const char* use = experiment.data.task == Task::parsing ? "parse" : "translate";
  std::cerr << "finished at step " << training.step() << "; " << use << " with: attn " << use << " "
            << run.string() << " < in > out\n";
  return 0;
}

}  // namespace attn
