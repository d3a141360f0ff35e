#include "app/sweep/status.h"

#include "app/resume.h"
#include "app/run_result.h"
#include "base/error.h"

namespace attn {
namespace fs = std::filesystem;

RunStatus inspect_run(const PlannedRun& run) {
  RunStatus status;
  if (!fs::exists(run.directory / kConfigFile)) return status;
  const bool finished = finished_result(run.directory, run.experiment.train).has_value();
  status.stage = finished ? RunStage::finished : RunStage::begun;
  status.changed = row_conflicts(run.directory, run.experiment);
  if (!status.changed.empty()) status.stage = RunStage::changed;
  return status;
}

RunProgress read_progress(const PlannedRun& run, const SweepMetrics& metrics) {
  RunProgress progress;
  for (const Json& record : read_metrics(run.directory)) {
    const std::string kind = record.value("kind", "");
    if (kind == "train") {
      progress.step = static_cast<int64_t>(number_at(record, "step").value_or(0));
      progress.tokens_per_second = number_at(record, "tokens_per_second").value_or(0);
      progress.seconds = number_at(record, "seconds").value_or(0);
    } else if (kind == "eval" && record.value("name", "") == metrics.evaluators[Metric::ppl]) {
      progress.ppl = number_at(record, "ppl").value_or(0);
    }
  }
  return progress;
}

std::string run_name(const SweepPlan& plan, const PlannedRun& run) {
  return plan.rows[run.row].name + "/" + run.directory.filename().string();
}

void refuse_changed(const SweepPlan& plan) {
  std::string list;
  for (const PlannedRun& run : plan.runs) {
    const RunStatus status = inspect_run(run);
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
