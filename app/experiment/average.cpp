#include "app/experiment/average.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/run_directory.h"
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
std::vector<StoredCheckpoint> last_checkpoints(const AverageOptions& options) {
  const fs::path folder = RunDirectory(options.run).checkpoints();
  require_input(options.run, {InputKind::run});
  const auto any = list_checkpoints(folder);
  if (any.empty()) throw DataError(options.run.string() + ": no run with checkpoints");
  const auto result = read_result(options.run);
  const bool described = ModelDirectory(options.run).has_config();
  const TrainConfig config = load_description(described ? options.run : any.back().path).train;
  const int64_t last_step = result ? result->step : options.last_step;
  auto all = scheduled_checkpoints(folder, checkpoint_schedule(config, last_step));
  const auto count = static_cast<int64_t>(all.size());
  const int64_t last = options.at_most ? std::min(options.last, count) : options.last;
  if (last < 1 || last > count) {
    throw ConfigError("--last " + std::to_string(options.last) + ": the run has " +
                      counted(count, "consecutive checkpoint") + "; use --last " +
                      std::to_string(count) + " (see train.checkpoint_every and train.keep_last)");
  }
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(last));
  return all;
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

std::string average(const AverageOptions& options) {
  const std::vector<StoredCheckpoint> checkpoints = last_checkpoints(options);
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
  return "mean of " + counted(std::ssize(checkpoints), "checkpoint") + ", steps " +
         std::to_string(checkpoints.front().step) + " to " +
         std::to_string(checkpoints.back().step) + ": " + output.string();
}

}  // namespace attn
