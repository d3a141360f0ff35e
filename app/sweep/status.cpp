#include "app/sweep/status.h"

#include <map>

#include "app/experiment/resume.h"
#include "app/experiment/run_result.h"
#include "app/experiment/text_keys.h"
#include "app/sweep/prepare.h"
#include "base/error.h"

namespace attn {

RunStatus inspect_run(const PlannedRun& run) {
  RunStatus status;
  if (!RunDirectory(run.directory).has_config()) return status;
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
    progress.evaluation_seconds += number_at(record, "eval_seconds").value_or(0);
    if (kind == "train") {
      progress.step = step_of(record);
      progress.tokens_per_second = number_at(record, "tokens_per_second").value_or(0);
      progress.seconds = number_at(record, "seconds").value_or(0);
    } else if (kind == "eval" && record.value("name", "") == metrics.evaluators[Metric::loss]) {
      progress.ppl = number_at(record, "ppl").value_or(0);
    }
  }
  return progress;
}

std::string run_name(const SweepPlan& plan, const PlannedRun& run) {
  return plan.rows[run.row].name + "/" + run.directory.filename().string();
}

std::vector<std::string> runtime_notes(const SweepPlan& plan) {
  std::map<std::string, std::string> runs;  // by what differs
  for (const PlannedRun& run : plan.runs) {
    if (!RunDirectory(run.directory).has_config()) continue;
    for (const std::string& change :
         runtime_changes(load_description(run.directory), run.experiment)) {
      std::string& names = runs[change];
      names += (names.empty() ? "" : ", ") + run_name(plan, run);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [change, names] : runs) {
    notes.push_back(change + " when these runs were started: " + names);
  }
  return notes;
}

void check_unchanged(const SweepPlan& plan) {
  std::string rows, texts;
  TextHashes hashes(hash_cache_file(plan.directory));
  const auto add = [&](std::string& list, const PlannedRun& run,
                       const std::vector<std::string>& changed) {
    if (changed.empty()) return;
    list += list.empty() ? "" : ", ";
    list += run_name(plan, run) + " (" + changed.front();
    if (changed.size() > 1) list += ", …";
    list += ")";
  };
  for (const PlannedRun& run : plan.runs) {
    add(rows, run, inspect_run(run).changed);
    add(texts, run, changed_texts(run.directory, run.experiment, hashes));
  }
  const std::string source = plan.source.string(), directory = plan.directory.string();
  if (!rows.empty()) {
    throw ConfigError(source + ": changed since they were trained: " + rows +
                      "; rename the changed rows, or delete their directories in " + directory);
  }
  if (!texts.empty()) {
    throw DataError(
        source + ": data files have changed since these runs were trained or evaluated: " + texts +
        "; restore the files, or delete the runs in " + directory +
        " and in the collection (--collect) to retrain them");
  }
}

}  // namespace attn
