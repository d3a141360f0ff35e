#include <algorithm>
#include <set>

#include "app/experiment/resume.h"
#include "app/experiment/run_directory.h"
#include "app/experiment/run_result.h"
#include "app/sweep/plan.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVocabulary = "vocabulary";

// Adds a run to those of an error message, with the first of what differs.
void add(std::vector<std::string>& runs, const std::string& name,
         const std::vector<std::string>& differences) {
  if (differences.empty()) return;
  runs.push_back(name + " (" + differences.front() + (differences.size() > 1 ? ", …)" : ")"));
}

// The small files of a run, atomically: the final name exists only if all were copied.
void copy_run(const fs::path& from, const fs::path& to) {
  make_directories(to.parent_path());
  AtomicDirectory copy(to, AtomicDirectory::Existing::replace);
  const RunDirectory run(from);
  for (const fs::path& file : {run.config(), run.result(), run.run_file(), run.metrics(), run.log(),
                               run.heads(), run.change()}) {
    if (fs::is_regular_file(file)) fs::copy_file(file, copy.path() / file.filename());
  }
  if (fs::is_directory(run.outputs())) {
    fs::copy(run.outputs(), RunDirectory(copy.path()).outputs());
  }
  copy.commit();
}

void copy_vocabularies(const fs::path& from, const fs::path& to) {
  if (!fs::is_directory(from / kVocabulary)) return;
  for (const auto& entry : fs::directory_iterator(from / kVocabulary)) {
    const fs::path copied = to / kVocabulary / entry.path().filename();
    if (!entry.is_directory() || fs::exists(copied)) continue;
    make_directories(copied.parent_path());
    AtomicDirectory copy(copied, AtomicDirectory::Existing::replace);  // others may copy it, too
    fs::copy(entry.path(), copy.path());
    copy.commit();
  }
}

// Whether --rescore may score the finished run again. The weights of a run with early stopping
// depend on its evaluators.
bool can_be_scored(const SweepPlan& plan, const PlannedRun& run) {
  const RunDirectory directory(run.directory);
  const auto result = plan.rescore ? read_result(directory) : std::nullopt;
  return result && result->end != RunEnd::diverged && run.experiment.train.patience == 0 &&
         !list_checkpoints(directory.checkpoints()).empty();
}

}  // namespace

void inspect_runs(SweepPlan& plan, bool collected) {
  const fs::path collection = collected ? plan.collection : "";
  for (PlannedRun& run : plan.runs) {
    const bool begun = RunDirectory(run.directory).has_config();
    const RunDirectory place(begun || collection.empty() ? run.directory : collection / run.name);
    const bool exists = place.has_config();
    const auto differences =
        exists ? row_conflicts(place, run.experiment, plan.rows[run.row].change.record)
               : std::vector<std::string>();
    const bool ended = exists && finished_result(place, run.experiment.train).has_value();
    run.finished = ended && differences.empty();
    run.rescore = begun && ended && !run.finished && can_be_scored(plan, run) &&
                  std::ranges::all_of(differences, is_scoring);
    run.changed = begun ? differences : std::vector<std::string>();
  }
}

bool has_unfinished(const SweepPlan& plan) {
  return std::ranges::any_of(plan.runs, [](const PlannedRun& run) { return !run.finished; });
}

void check_configs_unchanged(SweepPlan plan) {
  std::set<std::string> selected;
  for (const PlannedRun& run : plan.runs) selected.insert(run.name);
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    int64_t& seeds = plan.rows[i].seeds;
    while (RunDirectory(run_of(plan, i, seeds).directory).has_config()) ++seeds;
    plan.rows[i].selected = true;
  }
  plan_runs(plan);
  inspect_runs(plan);
  std::vector<std::string> changed;
  for (const PlannedRun& run : plan.runs) {
    if (!run.rescore || !selected.contains(run.name)) add(changed, run.name, run.changed);
  }
  if (changed.empty()) return;
  throw ConfigError(plan.source + ": changed since they were trained: " + joined(changed, ", ") +
                    "; use the former options (--set applies to all rows), another directory "
                    "(--run) or other names for the changed rows, or delete their directories in " +
                    plan.directory.string() +
                    "; if only eval or search differ: --rescore, which needs the runs of all rows "
                    "(\"seeds\"), their checkpoints and no train.patience");
}

void check_texts_unchanged(SweepPlan& plan, TextHashes& hashes) {
  std::vector<std::string> texts;
  for (PlannedRun& run : plan.runs) {
    const ChangedTexts changed = changed_texts(run.directory, run.experiment, hashes);
    add(texts, run.name, changed.trained);
    const bool again = !changed.scored.empty() && can_be_scored(plan, run);
    run.rescore |= again;
    run.finished &= !again;
    if (!again) add(texts, run.name, changed.scored);
  }
  if (texts.empty()) return;
  throw DataError(plan.source +
                  ": data files have changed since these runs were trained or evaluated: " +
                  joined(texts, ", ") +
                  "; restore the files, use --rescore for evaluators', or delete the runs in " +
                  plan.directory.string() + " and in the collection (--collect) to retrain them");
}

int64_t take_collected(const SweepPlan& plan) {
  int64_t taken = 0;
  if (plan.collection.empty()) return taken;
  copy_vocabularies(plan.collection, plan.directory);
  for (const PlannedRun& run : plan.runs) {
    const fs::path place = plan.collection / run.name;
    if (!RunDirectory(place).has_config() || !read_result(place)) continue;
    const std::vector<std::string> changed =
        row_conflicts(place, run.experiment, plan.rows[run.row].change.record);
    if (!changed.empty()) {
      const bool own = RunDirectory(run.directory).has_run();  // replaces it, scored again
      if (plan.rescore && own && std::ranges::all_of(changed, is_scoring)) continue;
      throw ConfigError(place.string() + ": trained with a different " + changed.front() +
                        " than row " + plan.rows[run.row].name + " of " + plan.source +
                        difference_text(changed.front(), write_resolved(run.experiment),
                                        write_resolved(load_description(place))) +
                        "; rename the row, or remove the run from the collection");
    }
    if (RunDirectory(run.directory).has_run() || !finished_result(place, run.experiment.train)) {
      continue;
    }
    const RunLock none_trains(run.directory);
    copy_run(place, run.directory);  // replaces lock and log of a run that failed before it began
    ++taken;
  }
  return taken;
}

std::string collect_run(const SweepPlan& plan, const PlannedRun& run) try {
  if (plan.collection.empty()) return "";
  const fs::path place = plan.collection / run.name;
  const bool collected =
      RunDirectory(place).has_config() && finished_result(place, run.experiment.train);
  if (collected && !plan.rescore) return "";
  copy_vocabularies(plan.directory, plan.collection);
  copy_run(run.directory, place);  // replaces that of a shorter run
  return "";
} catch (const std::exception& error) {
  return std::string("not collected: ") + error.what();
}

}  // namespace attn
