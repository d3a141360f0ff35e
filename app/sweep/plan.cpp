#include "app/sweep/plan.h"

#include <fnmatch.h>

#include <algorithm>

#include "app/experiment/resume.h"
#include "app/experiment/run_directory.h"
#include "app/machine/processes.h"
#include "base/check.h"
#include "base/edit_distance.h"
#include "base/file.h"
#include "base/hash.h"

namespace attn {

namespace {

namespace fs = std::filesystem;

std::string place_of(const SweepRequest& request, const ExpandedRow& row) {
  return request.file.string() + ": row " + row.row.name;
}

Experiment resolve_row(const SweepRequest& request, const SweepFile& file, const ExpandedRow& row) {
  const fs::path folder = request.file.parent_path();
  std::vector<std::string> base = {file.base};
  base.insert(base.end(), file.patch.begin(), file.patch.end());
  // As one patch, in which tags take effect before options, whoever sets them.
  Json own = row.row.set;
  try {
    merge_patch(own, row.values);
  } catch (const ConfigError& error) {
    throw ConfigError(place_of(request, row) + ": " + error.what());
  }
  const std::vector<Json> patches = {Json{{"base", base}}, file.set, Json{{"base", row.row.patch}}};
  return resolve_experiment(patches, place_of(request, row), folder, request.assignments, own);
}

// Throws ConfigError if --set would give all rows of a grid, which are named by its values, one
// value, or would be replaced by a value of "tune".
void require_rows_kept(const SweepRequest& request, const SweepFile& file,
                       const std::vector<ExpandedRow>& rows) {
  for (const Assignment& assignment : request.assignments) {
    const auto require_other = [&](const Json& grid, const std::string& of) {
      for (const auto& [path, values] : grid.items()) {
        const std::string set = Assignment(path + "=").path;  // in the same form
        if (!is_within(assignment.path, set) && !is_within(set, assignment.path)) continue;
        throw ConfigError("--set " + assignment.text + ": " + of + " sets " + path +
                          " itself; leave it out, or change the sweep");
      }
    };
    require_other(file.tune, "\"tune\"");
    for (const ExpandedRow& row : rows) require_other(row.row.grid, "row " + row.row.name);
  }
}

// The paths of the options that a patch sets, with the files of its "base".
void collect_options(const Json& patch, const fs::path& folder, std::vector<std::string>& paths) {
  for (const auto& [path, value] : values_by_path(patch)) paths.push_back(path);
  const Json base = patch.value("base", Json::array());
  for (const Json& one : base.is_array() ? base : Json::array({base})) {
    const fs::path file = folder / one.get<std::string>();
    collect_options(parse_json(read_file(file, kMaxConfigBytes), file.string()), file.parent_path(),
                    paths);
  }
}

// Throws ConfigError if the row, which can be resolved, sets an option of "tune" itself.
void require_not_tuned(const SweepRequest& request, const Json& tune, const ExpandedRow& row) {
  std::vector<std::string> own;
  for (const Json& patch : {Json{{"base", row.row.patch}}, row.row.set, row.values}) {
    collect_options(patch, request.file.parent_path(), own);
  }
  for (const auto& [path, values] : tune.items()) {
    const auto sets = [tuned = Assignment(path + "=").path](const std::string& one) {
      return is_within(one, tuned) || is_within(tuned, one);
    };
    if (std::ranges::none_of(own, sets)) continue;
    throw ConfigError(place_of(request, row) + " sets " + path +
                      " itself; leave it out of \"tune\", or change the row");
  }
}

void select(SweepPlan& plan, const std::vector<std::string>& only) {
  if (only.empty()) return;
  std::vector<std::string> names;
  for (PlannedRow& row : plan.rows) {
    names.push_back(row.name);
    row.selected = false;
  }
  for (const std::string& pattern : only) {
    bool found = false;
    for (PlannedRow& row : plan.rows) {
      const auto matches = [&](const std::string& name) {
        return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
      };
      const bool tuned = !plan.file.tune.empty() && matches(row.name + ".tuned");  // of the row
      if (matches(row.name) || tuned) row.selected = found = true;
    }
    if (!found) {
      throw ConfigError("--only " + pattern + ": no row has that name" +
                        suggestion(pattern, names));
    }
  }
}

// The message of an unknown key, with a hint if it is an option of the config.
std::string with_place_meant(const UnknownKey& error) {
  const bool section = write_config(Experiment{}).contains(error.leaf);
  if (!section && option_path(error.leaf).empty()) return error.what();
  return error.complaint + "; an option of the config belongs in \"set\"";
}

// Without --only, since the report has all rows.
std::string command_of(const SweepRequest& request) {
  std::string command = "attn ";
  if (request.threads) command += "--threads " + std::to_string(*request.threads) + " ";
  command += "sweep " + shell_word(request.file.string());
  for (const Assignment& assignment : request.assignments) {
    command += " --set " + shell_word(assignment.text);
  }
  if (!request.directory.empty()) command += " --run " + shell_word(request.directory.string());
  const bool all = request.only.empty();  // otherwise other rows may have other seeds
  if (request.seeds > 0 && all) command += " --seeds " + std::to_string(request.seeds);
  if (request.jobs > 0) command += " --jobs " + std::to_string(request.jobs);
  if (!request.launcher.empty()) command += " --launcher " + shell_word(request.launcher);
  return command;
}

// Reads the file into the plan; returns its rows.
std::vector<ExpandedRow> read_rows(SweepPlan& plan) {
  const std::string& name = plan.source;
  try {
    require_input(name, {InputKind::sweep});
    read_config(plan.file, parse_json(read_file(name, kMaxConfigBytes), name));
    plan.file.validate();
    return expand_rows(plan.file);
  } catch (const UnknownKey& error) {
    throw ConfigError(name + ": " + with_place_meant(error));
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    throw ConfigError(message.starts_with(name) ? message : name + ": " + message);
  }
}

// Sets the program of a row that names a diff or a binary, by a path relative to `folder`.
void set_program(PlannedRow& planned, const SweepRow& row, const fs::path& folder) {
  if (row.diff.empty() && row.binary.empty()) return;
  ProgramChange& change = planned.change;
  planned.program = folder / (row.diff + row.binary);
  change.file = planned.program.filename().string();
  if (!row.diff.empty()) {
    change.kind = "diff";
    change.record = read_file(planned.program);
  } else {
    change.kind = "binary";
    planned.program = fs::absolute(planned.program).lexically_normal();
    const std::string program = planned.program.string();
    const auto [failed, text] = output_of(shell_quoted(program) + " --version");
    if (failed != 0 || !text.starts_with("attn ")) {
      throw ConfigError(program + " --version: not a build of attn: " + text);
    }
    change.record = text + "\nhash " + to_hex(hash_file(program)) + "\n";
  }
  change.hash = to_hex(hash_text(change.record));
}

}  // namespace

PlannedRun run_of(const SweepPlan& plan, size_t row, int64_t k) {
  PlannedRun run{.row = row, .experiment = plan.rows[row].experiment};
  run.experiment.seed += k;
  run.name = plan.rows[row].name + "/seed-" + std::to_string(run.experiment.seed);
  run.directory = plan.directory / run.name;
  return run;
}

SweepMetrics chosen_metrics(const Experiment& experiment, const SweepMetrics& chosen,
                            const std::string& place) {
  SweepMetrics metrics;
  for (const MetricFacts& facts : kMetrics) {
    const std::string& name = chosen[facts.metric];
    std::vector<std::string> names;
    for (const EvaluatorConfig& config : experiment.eval) {
      if (config.kind() == facts.metric) names.push_back(config.name);
    }
    const auto found = name.empty() ? names.begin() : std::ranges::find(names, name);
    if (found != names.end()) {
      metrics[facts.metric] = *found;
    } else if (!name.empty()) {
      throw ConfigError(place + "metrics." + facts.key + ": \"" + name +
                        "\": no such evaluator in the first row" +
                        (names.empty() ? "" : suggestion(name, names)));
    }
  }
  return metrics;
}

void plan_runs(SweepPlan& plan) {
  for (PlannedRow& row : plan.rows) {
    row.config = write_resolved(row.experiment);
    row.changed = changed_paths(plan.rows.front().experiment, row.experiment);
  }
  plan.runs.clear();
  for (int64_t k = 0, left = 1; left > 0; ++k) {
    left = 0;
    for (size_t i = 0; i < plan.rows.size(); ++i) {
      if (!plan.rows[i].selected) continue;
      left += plan.rows[i].seeds > k + 1;
      if (k >= plan.rows[i].seeds) continue;
      plan.runs.push_back(run_of(plan, i, k));
      if (plan.runs.size() > kMaxSweepRuns) throw ConfigError("the sweep has more than 10000 runs");
    }
  }
}

SweepPlan plan_sweep(const SweepRequest& request) {
  SweepPlan plan;
  plan.source = request.file.string();
  plan.directory =
      request.directory.empty() ? fs::path("runs") / request.file.stem() : request.directory;
  plan.collection = request.collection;
  plan.rescore = request.rescore;
  require_between("--seeds", request.seeds, 0, kMaxSeeds);
  plan.command = command_of(request);
  const std::vector<ExpandedRow> rows = read_rows(plan);
  require_rows_kept(request, plan.file, rows);
  for (const ExpandedRow& row : rows) {
    PlannedRow& planned = plan.rows.emplace_back();
    planned.name = row.row.name;
    planned.about = row.row.about;
    planned.group = row.row.group;
    planned.baseline = row.baseline;
    planned.seeds = row.row.seeds > 0 ? row.row.seeds : plan.file.seeds;
    planned.paper = row.row.paper;
    planned.experiment = resolve_row(request, plan.file, row);
    if (!plan.file.tune.empty()) require_not_tuned(request, plan.file.tune, row);
    set_program(planned, row.row, request.file.parent_path());
  }
  plan.metrics =
      chosen_metrics(plan.rows.front().experiment, plan.file.metrics, plan.source + ": ");
  select(plan, request.only);
  for (PlannedRow& row : plan.rows) {
    if (row.selected && request.seeds > 0) row.seeds = request.seeds;
  }
  plan_runs(plan);
  return plan;
}

}  // namespace attn
