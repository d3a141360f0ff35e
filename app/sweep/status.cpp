#include "app/sweep/status.h"

#include <algorithm>
#include <map>
#include <span>

#include "app/experiment/resume.h"
#include "app/experiment/run_result.h"
#include "app/sweep/prepare.h"
#include "base/error.h"
#include "base/format.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

// Runs in an error message, each with the first of what differs.
class NameList {
 public:
  void add(const std::string& run, const std::vector<std::string>& differences) {
    if (differences.empty()) return;
    names_.push_back(run + " (" + differences.front() + (differences.size() > 1 ? ", …)" : ")"));
  }
  void add(const std::string& run) { names_.push_back(run); }
  bool empty() const { return names_.empty(); }
  std::string text() const {
    constexpr size_t kShown = 4;
    const size_t shown = std::min(names_.size(), kShown);
    std::string text = joined(std::span(names_).first(shown), ", ");
    const size_t more = names_.size() - shown;
    return more == 0 ? text : text + " and " + std::to_string(more) + " more";
  }

 private:
  std::vector<std::string> names_;
};

// Whether a run has a result but no checkpoint from which it could be extended, as runs that were
// taken from a collection.
bool lacks_checkpoints(const PlannedRun& run) {
  const RunDirectory directory(run.directory);
  return read_result(directory) && list_checkpoints(directory.checkpoints()).empty();
}

}  // namespace

RunStatus inspect_run(const PlannedRun& run) {
  RunStatus status;
  if (!RunDirectory(run.directory).has_config()) return status;
  const bool finished = finished_result(run.directory, run.experiment.train).has_value();
  status.stage = finished ? RunStage::finished : RunStage::started;
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
  NameList changed, not_extendable, texts;
  TextHashes hashes(hash_cache_file(plan.directory));
  for (const PlannedRun& run : plan.runs) {
    const std::string name = run_name(plan, run);
    const RunStatus status = inspect_run(run);
    changed.add(name, status.changed);
    if (status.stage == RunStage::started && lacks_checkpoints(run)) not_extendable.add(name);
    texts.add(name, changed_texts(run.directory, run.experiment, hashes));
  }
  // The report has the rows that are not selected, too.
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    if (plan.rows[i].selected) continue;
    for (int64_t k = 0; k < plan.rows[i].seeds; ++k) {
      const PlannedRun run = run_of(plan, i, k);
      try {
        changed.add(run_name(plan, run), inspect_run(run).changed);
      } catch (const DataError&) {  // a damaged file, which the report names
      }
    }
  }
  const std::string source = plan.source.string(), directory = plan.directory.string();
  if (!changed.empty()) {
    throw ConfigError(source + ": changed since they were trained: " + changed.text() +
                      "; train them with the former options (--set applies to all rows), rename "
                      "the changed rows, or delete their directories in " +
                      directory);
  }
  if (!not_extendable.empty()) {
    throw DataError(source +
                    ": finished with fewer steps, and their checkpoints, from which they "
                    "would be extended, are missing: " +
                    not_extendable.text() + "; delete the runs in " + directory +
                    " to train them again");
  }
  if (!texts.empty()) {
    throw DataError(source +
                    ": data files have changed since these runs were trained or evaluated: " +
                    texts.text() + "; restore the files, or delete the runs in " + directory +
                    " and in the collection (--collect) to retrain them");
  }
}

}  // namespace attn
