#include "app/sweep/status.h"

#include "app/resume.h"
#include "app/run_result.h"
#include "base/error.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Where texts are cached and vocabularies lie does not change what is trained.
void forget_places(Experiment& experiment) {
  experiment.data.cache.clear();
  experiment.data.source_model.clear();
  experiment.data.target_model.clear();
}

std::vector<std::string> conflicts(const PlannedRun& run, bool finished) {
  Experiment before = load_experiment(run.directory / "config.json");
  Experiment now = run.experiment;
  // The sweep itself fills these in when the file leaves them open.
  if (now.data.source_model.empty() && now.data.target_model.empty()) {
    forget_places(before);
    forget_places(now);
  }
  before.data.cache = now.data.cache;
  return finished ? result_conflicts(before, now) : resume_conflicts(before, now);
}

void read_progress(const PlannedRun& run, const SweepMetrics& metrics, RunStatus& status) {
  const auto trained = read_metrics(run.directory, "train");
  if (!trained.empty()) {
    status.step = trained.back().value("step", int64_t{0});
    status.tokens_per_second = trained.back().value("tokens_per_second", 0.0);
    status.seconds = trained.back().value("seconds", 0.0);
  }
  for (const Json& record : read_metrics(run.directory, "eval")) {
    if (record.value("name", "") == metrics.ppl) status.ppl = record.value("ppl", 0.0);
  }
}

}  // namespace

RunStatus inspect_run(const PlannedRun& run, const SweepMetrics& metrics) {
  RunStatus status;
  if (!fs::exists(run.directory / "config.json")) return status;
  read_progress(run, metrics, status);
  const auto result = read_result(run.directory);
  const bool patience = run.experiment.train.patience > 0;
  const bool finished = result && (patience || result->step >= run.experiment.train.steps);
  status.stage = finished ? RunStage::finished : RunStage::begun;
  if (finished) status.step = result->step;
  status.changed = conflicts(run, finished);
  // A finished run of more steps than its row has now is another row's result.
  if (finished && result->step > run.experiment.train.steps) status.changed = {"train.steps"};
  if (!status.changed.empty()) status.stage = RunStage::changed;
  return status;
}

std::string run_name(const SweepPlan& plan, const PlannedRun& run) {
  return plan.rows[run.row].name + "/" + run.directory.filename().string();
}

void refuse_changed(const SweepPlan& plan) {
  std::string list;
  for (const PlannedRun& run : plan.runs) {
    const RunStatus status = inspect_run(run, plan.metrics);
    if (status.stage != RunStage::changed) continue;
    list += list.empty() ? "" : ", ";
    list += run_name(plan, run) + " (" + status.changed.front();
    if (status.changed.size() > 1) list += ", …";
    list += ")";
  }
  if (list.empty()) return;
  throw ConfigError(plan.source.string() + ": changed since they were trained: " + list +
                    "; give a changed row another name, or delete its folder in " +
                    plan.directory.string());
}

}  // namespace attn
