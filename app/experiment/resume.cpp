#include "app/experiment/resume.h"

#include <algorithm>
#include <map>

#include "app/experiment/config_difference.h"
#include "app/experiment/run_result.h"

namespace attn {
namespace {

// Options that do not change the updates: logging, checkpoints, caches and runtime.
constexpr std::string_view kHousekeeping[] = {"about",           "data.cache",
                                              "train.log_every", "train.checkpoint_minutes",
                                              "train.keep_last", "runtime"};
constexpr std::string_view kLength[] = {"train.steps", "train.patience"};
constexpr std::string_view kCheckpointSchedule = "train.checkpoint_every";
constexpr std::string_view kEvaluation[] = {"eval", "search", "train.average_last",
                                            kCheckpointSchedule};
// Averages weights beside the training, which it does not change; a resumed run needs the average.
constexpr std::string_view kBesideTraining[] = {"train.ema"};

bool is_below(std::string_view path, std::span<const std::string_view> places) {
  return std::any_of(places.begin(), places.end(),
                     [&](std::string_view place) { return is_within(path, place); });
}

// The options that decide which weights are trained, as JSON.
std::string training_text(const Experiment& experiment) {
  Json json = write_config(experiment);
  const auto erase = [&](std::span<const std::string_view> paths) {
    for (const std::string_view path : paths) {
      const size_t dot = path.find('.');
      Json& section = dot == path.npos ? json : json.at(std::string(path.substr(0, dot)));
      section.erase(std::string(path.substr(dot == path.npos ? 0 : dot + 1)));
    }
  };
  erase(kHousekeeping);
  erase(kEvaluation);
  erase(kBesideTraining);
  return json.dump();
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::vector<std::string> result_conflicts(const Experiment& before, const Experiment& now) {
  std::vector<std::string> paths = changed_paths(write_config(before), write_config(now));
  // The averaged checkpoints are the last ones of this schedule.
  const bool averages = before.train.average_last > 0 || now.train.average_last > 0;
  std::erase_if(paths, [&](const std::string& path) {
    return is_below(path, kHousekeeping) || (path == kCheckpointSchedule && !averages);
  });
  return paths;
}

std::vector<std::string> resume_conflicts(const Experiment& before, const Experiment& now) {
  std::vector<std::string> paths = result_conflicts(before, now);
  // Such a schedule would have had other rates from the first decay on.
  const bool fixed_length = now.train.decays_to_the_end();
  std::erase_if(paths, [&](const std::string& path) {
    if (fixed_length && path == "train.steps") return false;
    return is_below(path, kLength) || is_below(path, kEvaluation);
  });
  return paths;
}

std::vector<size_t> first_equivalent_runs(std::span<const Experiment> configs) {
  std::map<std::string, size_t> first;
  std::vector<size_t> first_equivalent;
  for (size_t i = 0; i < configs.size(); ++i) {
    // With early stopping the evaluation decides how long the run is.
    const bool own = configs[i].train.patience > 0;
    first_equivalent.push_back(own ? i : first.emplace(training_text(configs[i]), i).first->second);
  }
  return first_equivalent;
}

void require_resumable(const std::filesystem::path& run, const Experiment& before,
                       const Experiment& now) {
  auto conflicts = resume_conflicts(before, now);
  if (!RunDirectory(run).has_trained()) {
    std::erase_if(conflicts, [](const std::string& path) {
      return path == "data.source_model" || path == "data.target_model";
    });
  }
  if (conflicts.empty()) return;
  const std::string& path = conflicts.front();
  const bool length = path == "train.steps";
  throw ConfigError(run.string() + ": " + path + " differs from the run's config.json" +
                    difference_text(path, write_config(before), write_config(now)) +
                    (length ? ", and train.schedule decays to the last step" : "") +
                    "; resume with the old value, or start a new run with --run");
}

void require_new_run(const std::filesystem::path& run) {
  if (!RunDirectory(run).has_run()) return;
  throw ConfigError(run.string() +
                    ": the run exists; use --resume to resume it, or another directory with --run");
}

std::vector<std::string> runtime_changes(const Experiment& before, const Experiment& now) {
  const Json old_values = write_config(before.runtime), values = write_config(now.runtime);
  std::vector<std::string> lines;
  for (const std::string& key : changed_paths(old_values, values)) {
    lines.push_back("runtime." + key + " is " + text_of(values[key]) + ", was " +
                    text_of(old_values[key]));
  }
  return lines;
}

std::vector<std::string> row_conflicts(const std::filesystem::path& run, Experiment row) {
  Experiment before = load_description(run);
  const bool finished = finished_result(run, row.train).has_value();
  for (std::string DataConfig::*model : {&DataConfig::source_model, &DataConfig::target_model}) {
    if ((row.data.*model).empty()) (before.data.*model).clear();
  }
  row.seed = before.seed;
  return finished ? result_conflicts(before, row) : resume_conflicts(before, row);
}

}  // namespace attn
