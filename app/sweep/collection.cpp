#include "app/sweep/collection.h"

#include "app/experiment/resume.h"
#include "app/experiment/run_lock.h"
#include "app/experiment/run_result.h"
#include "app/sweep/status.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVocabulary = "vocabulary";
constexpr const char* kOutputs = "eval";

// Runs are SWEEP/ROW/seed-1, also in the collection.
fs::path place_of(const PlannedRun& run, const fs::path& collection) {
  return collection / run.directory.parent_path().filename() / run.directory.filename();
}

// Regular files only, so that a link in a collection copies nothing from elsewhere.
void copy_file_into(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return;
  fs::create_directories(folder, error);
  if (!error) fs::copy_file(file, folder / file.filename(), error);
  if (error) throw DataError(file.string() + ": cannot be copied: " + error.message());
}

void copy_files(const fs::path& from, const fs::path& to) {
  if (!fs::is_directory(from)) return;
  for (const auto& entry : fs::directory_iterator(from)) copy_file_into(entry.path(), to);
}

// Throws DataError if a directory that is to be replaced has other files than those of a run that
// failed before it began.
void require_only_logs(const RunDirectory& run) {
  for (const auto& entry : fs::directory_iterator(run.path())) {
    const fs::path& file = entry.path();
    if (file == run.lock() || file == run.log()) continue;
    throw DataError(file.string() + ": exists where the collected run is to be copied; move it");
  }
}

// The small files of a run, atomically: the final name exists only if all were copied.
void copy_run(const fs::path& from, const fs::path& to,
              AtomicDirectory::Existing existing = AtomicDirectory::Existing::refuse) {
  make_directories(to.parent_path());
  AtomicDirectory copy(to, existing);
  const RunDirectory run(from);
  for (const fs::path& file :
       {run.config(), run.result(), run.run_file(), run.metrics(), run.log(), run.heads()}) {
    copy_file_into(file, copy.path());
  }
  copy_files(from / kOutputs, copy.path() / kOutputs);
  copy.commit();
}

void collect_heads(const RunDirectory& run, const RunDirectory& place) {
  if (!fs::exists(run.heads())) return;
  const std::string heads = read_file(run.heads());
  if (fs::exists(place.heads()) && read_file(place.heads()) == heads) return;
  write_file_atomically(place.heads(), heads);
}

void copy_vocabularies(const fs::path& from, const fs::path& to) {
  if (!fs::is_directory(from / kVocabulary)) return;
  for (const auto& entry : fs::directory_iterator(from / kVocabulary)) {
    const fs::path copied = to / kVocabulary / entry.path().filename();
    if (!entry.is_directory() || fs::exists(copied)) continue;
    make_directories(copied.parent_path());
    try {
      AtomicDirectory copy(copied);
      copy_files(entry.path(), copy.path());
      copy.commit();
    } catch (const DataError&) {
      if (!fs::exists(copied)) throw;  // else another process has copied it meanwhile
    }
  }
}

}  // namespace

int64_t take_collected(const SweepPlan& plan, const fs::path& collection) {
  int64_t taken = 0;
  copy_vocabularies(collection, plan.directory);
  for (const PlannedRun& run : plan.runs) {
    const fs::path place = place_of(run, collection);
    if (!RunDirectory(place).has_config() || !read_result(place)) continue;
    const std::vector<std::string> changed = row_conflicts(place, run.experiment);
    if (!changed.empty()) {
      throw ConfigError(place.string() + ": trained with a different " + changed.front() +
                        " than row " + plan.rows[run.row].name + " of " + plan.source.string() +
                        difference_text(changed.front(), write_config(run.experiment),
                                        write_config(load_description(place))) +
                        "; rename the row, or remove the run from the collection");
    }
    if (RunDirectory(run.directory).has_run() || !finished_result(place, run.experiment.train)) {
      continue;
    }
    if (fs::exists(run.directory)) {  // with the lock and log of a run that failed before it began
      const RunLock none_trains(run.directory);
      require_only_logs(run.directory);
      copy_run(place, run.directory, AtomicDirectory::Existing::replace);
    } else {
      copy_run(place, run.directory);
    }
    ++taken;
  }
  return taken;
}

std::optional<fs::path> finished_run(const PlannedRun& run, const fs::path& collection) {
  const RunStage stage = inspect_run(run).stage;
  if (stage == RunStage::finished) return run.directory;
  if (stage != RunStage::waiting || collection.empty()) return std::nullopt;
  const fs::path place = place_of(run, collection);
  if (!RunDirectory(place).has_config() || !finished_result(place, run.experiment.train) ||
      !row_conflicts(place, run.experiment).empty()) {
    return std::nullopt;
  }
  return place;
}

void collect_run(const PlannedRun& run, const fs::path& collection) {
  const fs::path place = place_of(run, collection);
  if (inspect_run(run).stage != RunStage::finished) return;
  const bool collected = RunDirectory(place).has_config();
  if (collected && finished_result(place, run.experiment.train)) {
    collect_heads(run.directory, place);  // may be made after the run was collected
    return;
  }
  copy_vocabularies(run.directory.parent_path().parent_path(), collection);
  copy_run(run.directory, place,  // replaces that of a shorter run
           collected ? AtomicDirectory::Existing::replace : AtomicDirectory::Existing::refuse);
}

}  // namespace attn
