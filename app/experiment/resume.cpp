#include "app/experiment/resume.h"

#include <algorithm>

#include "app/experiment/run_result.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "eval/tasks/evaluator_config.h"

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

bool is_changeable(std::string_view path) {
  return std::ranges::find(kChangeable, path) != std::end(kChangeable);
}

bool is_below(std::string_view path, std::span<const std::string_view> places) {
  return std::any_of(places.begin(), places.end(),
                     [&](std::string_view place) { return is_within(path, place); });
}

using json_config_detail::join;

std::string element(const std::string& place, size_t index) {
  return place + "[" + std::to_string(index) + "]";
}

void collect(const Json& before, const Json& after, Json usual, const std::string& place,
             std::vector<std::string>& out) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.items()) {
      if (after.contains(key)) collect(value, after[key], usual[key], join(place, key), out);
    }
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key) && value != usual[key]) out.push_back(join(place, key));
    }
  } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (size_t i = 0; i < before.size(); ++i) {
      collect(before[i], after[i], usual[i], element(place, i), out);
    }
  } else {
    out.push_back(place);
  }
}

void collect_values(const Json& json, const std::string& place,
                    std::map<std::string, std::string>& out) {
  if (!json.is_object()) out[place] = json.dump();
  if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) collect_values(json[i], element(place, i), out);
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) collect_values(value, join(place, key), out);
  }
}

// The defaults of its options, with derived values filled in, as in write_resolved.
Json resolved_defaults(Experiment experiment) {
  Json usual = write_defaults(experiment);
  if (auto* model = std::get_if<TransformerConfig>(&experiment.model.options)) {
    model->d_k = model->d_v = std::nullopt;
    usual["model"]["d_k"] = model->key_width();
    usual["model"]["d_v"] = model->value_width();
  }
  for (Json& one : usual["eval"]) one["search"] = write_config(experiment.search);
  return usual;
}

}  // namespace

std::vector<std::string> result_conflicts(const Experiment& before, const Experiment& now) {
  std::vector<std::string> paths = changed_paths(before, now);
  // The averaged checkpoints are the last ones of this schedule.
  const bool averages = before.train.average_last > 0 || now.train.average_last > 0;
  std::erase_if(paths, [&](const std::string& path) {
    return is_below(path, kHousekeeping) || (path == kCheckpointSchedule && !averages) ||
           path.ends_with("].test") || path.ends_with("].sealed");  // of evaluators
  });
  return paths;
}

bool is_scoring(std::string_view path) {
  return is_within(path, "eval") || is_within(path, "search");
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

std::string training_text(const Experiment& experiment) {
  Json json = write_resolved(experiment);
  const auto erase = [&](std::span<const std::string_view> paths) {
    for (const std::string_view path : paths) {
      const size_t dot = path.find('.');
      Json& section = dot == path.npos ? json : json.at(std::string(path.substr(0, dot)));
      section.erase(std::string(path.substr(dot == path.npos ? 0 : dot + 1)));
    }
  };
  erase(kHousekeeping);
  if (experiment.train.patience == 0) {  // early stopping depends on evaluations of the average
    erase(kBesideTraining);
    erase(kEvaluation);
  }
  return json.dump();
}

void require_resumable(const std::filesystem::path& run, const Experiment& before,
                       const Experiment& now, std::span<const Assignment> changes) {
  auto conflicts = resume_conflicts(before, now);
  for (const Assignment& change : changes) std::erase(conflicts, change.path);
  if (read_run_file(run).contains("data_key")) std::erase(conflicts, "data.train");
  std::erase(conflicts, "data.valid");
  if (!RunDirectory(run).has_trained()) {
    std::erase_if(conflicts, [](const std::string& path) {
      return path == "data.source_model" || path == "data.target_model";
    });
  }
  if (conflicts.empty()) return;
  const std::string& path = conflicts.front();
  const bool length = path == "train.steps";
  throw ConfigError(run.string() + ": " + path + " differs from the run's config.json" +
                    difference_text(path, write_resolved(before), write_resolved(now)) +
                    (length ? ", and train.schedule decays to the last step" : "") +
                    "; resume with the old value, " +
                    (is_changeable(path) ? "change it from here on with --change, " : "") +
                    "or start a new run with --run");
}

void require_changeable(std::span<const Assignment> changes) {
  for (const Assignment& change : changes) {
    if (is_changeable(change.path)) continue;
    throw ConfigError("--change " + change.text + ": only " + joined(kChangeable, ", ") +
                      " can change while a run is trained; start a new run with --set");
  }
}

Json changes_at(int64_t step, const Experiment& before, const Experiment& now) {
  const auto old_values = values_by_path(write_resolved(before));
  const auto values = values_by_path(write_resolved(now));
  Json changes = Json::array();
  for (const std::string& path : resume_conflicts(before, now)) {
    const auto was = old_values.find(path), is = values.find(path);
    if (!is_changeable(path)) continue;
    if (was == old_values.end() || is == values.end()) continue;
    changes.push_back({{"step", step},
                       {"option", path},
                       {"before", Json::parse(was->second)},
                       {"after", Json::parse(is->second)}});
  }
  return changes;
}

std::vector<std::string> row_conflicts(const RunDirectory& run, Experiment row,
                                       const std::string& change) {
  const std::filesystem::path record = run.change();
  if ((std::filesystem::exists(record) ? read_file(record) : "") != change) {
    return {"diff or binary"};
  }
  Experiment before = load_description(run);
  const bool finished = finished_result(run, row.train).has_value();
  for (std::string DataConfig::*model : {&DataConfig::source_model, &DataConfig::target_model}) {
    if ((row.data.*model).empty()) (before.data.*model).clear();
  }
  row.seed = before.seed;
  return finished ? result_conflicts(before, row) : resume_conflicts(before, row);
}

std::vector<std::string> changed_paths(const Experiment& before, const Experiment& after) {
  std::vector<std::string> out;
  collect(write_resolved(before), write_resolved(after), resolved_defaults(after), "", out);
  std::erase(out, "about");
  return out;
}

std::string difference_text(const std::string& path, const Json& before, const Json& after) {
  const auto old_values = values_by_path(before), values = values_by_path(after);
  const auto was = old_values.find(path), is = values.find(path);
  if (was == old_values.end() || is == values.end()) return "";
  return " (" + is->second + " instead of " + was->second + ")";
}

std::map<std::string, std::string> values_by_path(const Json& config) {
  std::map<std::string, std::string> out;
  collect_values(config, "", out);
  return out;
}

ChangedTexts changed_texts(const RunDirectory& run, const Experiment& now, TextHashes& hashes) {
  ChangedTexts changed;
  if (!run.has_trained()) return changed;
  if (const Json before = read_run_file(run).value("texts", Json()); before.is_object()) {
    const std::map<std::string, std::string> names = {{"train", now.data.train},
                                                      {"source_model", now.data.source_model},
                                                      {"target_model", now.data.target_model}};
    for (const auto& [what, key] : training_keys(now.data, hashes)) {
      if (!before.contains(what) || before.at(what) == Json(key)) continue;
      changed.trained.push_back(std::string("data.").append(what).append(" (") + names.at(what) +
                                ")");
    }
  }
  const auto result = finished_result(run, now.train);
  if (!result) return changed;
  for (const EvaluatorConfig& config : now.eval) {
    const auto found = result->results.find(config.name);
    if (found == result->results.end() || found->second.text.empty()) continue;
    const std::string key = evaluation_key(config, now.data, hashes);
    if (key.empty() || key == found->second.text) continue;
    changed.scored.push_back("evaluator " + config.name + " (" + config.text(now.data) + ")");
  }
  return changed;
}

std::optional<StoredCheckpoint> checkpoint_to_resume(const RunDirectory& run) {
  const std::filesystem::path folder = run.checkpoints();
  if (const auto newest = latest_checkpoint(folder)) return newest;
  const auto is_evaluation = [](const Json& record) { return record.value("kind", "") == "eval"; };
  const auto damaged = list_checkpoints(folder);
  const auto result = read_result(run);  // if it diverged before a save, it may begin again
  const bool saved = !damaged.empty() || (result && result->end != RunEnd::diverged) ||
                     std::filesystem::exists(best_mark(folder)) ||
                     std::ranges::any_of(read_metrics(run), is_evaluation);  // each after a save
  if (!saved) return {};
  std::string why = "there is none";
  try {
    if (!damaged.empty()) verify_checkpoint(damaged.back().path);
  } catch (const DataError& error) {
    why = error.what();
  }
  throw DataError(run.path().string() + ": was trained, but no checkpoint is complete (" + why +
                  "); restore the missing files, or start a new run with --run");
}

}  // namespace attn
