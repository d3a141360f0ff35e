#include "app/experiment/average.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "app/experiment/find_checkpoint.h"
#include "app/experiment/input_kind.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/run_result.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/safetensors.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// The last scheduled checkpoints. Those saved on interruption are excluded, so that the average
// does not depend on interruptions.
std::vector<StoredCheckpoint> last_checkpoints(const AverageOptions& options,
                                               std::optional<int64_t> until) {
  const fs::path folder = RunDirectory(options.run).checkpoints();
  if (!fs::exists(options.run)) {
    throw DataError(options.run.string() + ": no such run");
  }
  require_input(options.run, {InputKind::run, InputKind::checkpoint});
  require_no_checkpoint(options.run);
  const auto any = list_checkpoints(folder);
  if (any.empty()) {
    throw DataError(options.run.string() + ": no checkpoints to average");
  }
  const auto result = read_result(options.run);
  const bool described = ModelDirectory(options.run).has_config();
  const TrainConfig config = load_description(described ? options.run : any.back().path).train;
  const int64_t last_step = result ? result->step : options.last_step;
  auto all = scheduled_checkpoints(folder, checkpoint_schedule(config, last_step));
  if (until) {
    std::erase_if(all, [&](const StoredCheckpoint& one) { return one.step > *until; });
    if (all.empty() || all.back().step != *until) {
      throw ConfigError(options.run.string() + "@" + std::to_string(*until) +
                        ": not one of the run's successive checkpoints of every " +
                        std::to_string(config.checkpoint_every) +
                        " steps (train.checkpoint_every)");
    }
  }
  const auto count = static_cast<int64_t>(all.size());
  const int64_t last = options.at_most ? std::min(options.last, count) : options.last;
  if (last < 1 || last > count) {
    const auto stored = list_checkpoints(RunDirectory(options.run).checkpoints());
    const std::string other =
        stored.empty() ? ""
                       : "; that of step " + std::to_string(stored.back().step) +
                             ", where it was stopped, is " + options.run.string() + "@last";
    throw ConfigError("--last " + std::to_string(options.last) + ": the run has " +
                      counted(count, "consecutive checkpoint") + ", one every " +
                      std::to_string(config.checkpoint_every) + " steps" +
                      (until ? " up to step " + std::to_string(*until) : "") +
                      (count > 0 ? "; use --last " + std::to_string(count) : other) +
                      " (see train.checkpoint_every and train.keep_last)");
  }
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(last));
  return all;
}

// Splits RUN@STEP: options.run becomes RUN. Returns the step, or std::nullopt without one.
std::optional<int64_t> take_step(AverageOptions& options) {
  const auto selector = checkpoint_selector(options.run);
  if (!selector) return {};
  const auto step = selected_step(*selector);
  if (!step && selector->which != "last") {
    throw ConfigError(options.run.string() + ": expected a run, " + selector->run.string() +
                      ", or the step of the last checkpoint to average, " + selector->run.string() +
                      "@STEP");
  }
  options.run = selector->run;
  return step;
}

// Whether the directory is what average() writes. It replaces its output, which must not be another
// model's directory.
bool is_average(const fs::path& directory) {
  const ModelDirectory model(directory);
  try {
    return model.has_weights() && SafetensorsFile(model.weights()).metadata().contains("averaged");
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

AverageOutput average(AverageOptions options) {
  const auto until = take_step(options);
  const std::vector<StoredCheckpoint> checkpoints = last_checkpoints(options, until);
  std::vector<fs::path> weights;
  for (const StoredCheckpoint& checkpoint : checkpoints) {
    weights.push_back(ModelDirectory(checkpoint.path).weights());
  }
  const fs::path output =
      options.output.empty() ? RunDirectory(options.run).averaged() : options.output;
  if (fs::exists(output) && !is_average(output)) {
    throw DataError(output.string() +
                    ": exists and is not an averaged checkpoint; give another --output");
  }
  remove_leftovers(output.parent_path(), std::chrono::hours(24));
  AtomicDirectory directory(output, AtomicDirectory::Existing::replace);
  {
    const ProgressLine progress(
        {.what = "averaging " + std::to_string(weights.size()) + " checkpoints", .unit = ""});
    average_weights(weights, ModelDirectory(directory.path()).weights());
  }
  save_description(directory.path(), load_description(checkpoints.back().path),
                   load_tokenizers(checkpoints.back().path));
  directory.commit();
  return {.checkpoints = std::ssize(checkpoints),
          .first_step = checkpoints.front().step,
          .last_step = checkpoints.back().step,
          .path = output};
}

std::string AverageOutput::description() const {
  return "mean of " + counted(checkpoints, "checkpoint") + ", steps " + std::to_string(first_step) +
         " to " + std::to_string(last_step) + ": " + path.string();
}

}  // namespace attn
