// A sweep as it is trained: the rows of its file, resolved, and their runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/sweep/changed_program.h"
#include "app/sweep/sweep_file.h"

namespace attn {

/// One row, resolved.
struct PlannedRow {
  std::string name;
  std::string about;
  std::string group;
  size_t baseline = 0;  ///< the row that it is compared with
  PaperResults paper;
  Experiment experiment;                ///< with its first seed
  std::vector<std::string> changed;     ///< paths in which it differs from the first row
  std::optional<ProgramChange> change;  ///< of the program; std::nullopt: the sweep's own
  bool selected = true;                 ///< selected by --only
  int64_t seeds = 1;                    ///< runs planned for it
};

/// One run.
struct PlannedRun {
  size_t row = 0;
  std::string name;  ///< "ROW/seed-1"
  Experiment experiment;
  std::filesystem::path directory;        ///< SWEEP/ROW/seed-1
  std::string change;                     ///< record of its row's change of the program; "": none
  bool finished = false;                  ///< has a result, by inspect_runs (app/sweep/status.h)
  std::vector<std::string> changed = {};  ///< options in which its directory differs from its row
  std::filesystem::path program;          ///< that trains it, once it is built; empty: this one

  /// Its config file, SWEEP/ROW/seed-1.json, and its output, SWEEP/ROW/seed-1.log.
  std::filesystem::path config() const { return std::filesystem::path(directory) += ".json"; }
  std::filesystem::path log() const { return std::filesystem::path(directory) += ".log"; }
};

struct SweepPlan {
  std::filesystem::path source;     ///< the sweep file
  std::filesystem::path directory;  ///< output directory
  std::string command;              ///< trains all rows
  SweepFile file;
  SweepMetrics metrics;  ///< with the defaults filled in
  std::vector<PlannedRow> rows;
  /// Runs of the selected rows: the first seed of all rows, then the second seed of all, so that an
  /// interrupted sweep has the same seeds for every row.
  std::vector<PlannedRun> runs;
  Json tuning_grid;                 ///< of trials (app/sweep/tuning.h)
  std::vector<std::string> tuning;  ///< what the trials have chosen, for the report
};

/// The file in a sweep directory that caches the hashes of its texts (TextHashes).
inline constexpr const char* kTextHashes = "cache/texts.json";

struct SweepRequest {
  std::filesystem::path file;
  std::filesystem::path directory;      ///< empty: runs/NAME
  std::vector<Assignment> assignments;  ///< applied to every row
  std::vector<std::string> only;        ///< names or patterns with *; empty: all rows
  int64_t seeds = 0;                    ///< 0: as in the file
  std::optional<int> threads;           ///< --threads, on which rounding depends
};

/// The machine on which a sweep trains.
struct SweepMachine {
  std::string device = "auto";  ///< --device of the runs
  int64_t cores = 1;            ///< which the runs share
  int64_t gpus = 0;             ///< assigned to the runs round-robin
  int64_t jobs = 1;             ///< runs that train at a time; 0: as many as fit on the GPUs
};

/// Plans the runs of the selected rows; sets in what each row differs from the first. May throw.
void plan_runs(SweepPlan& plan);

/// The run of a row with its k-th seed, from 0.
PlannedRun run_of(const SweepPlan& plan, size_t row, int64_t k);

/// Reads the file and resolves every row before any row is trained. Throws ConfigError with the row
/// and the path of the first error.
SweepPlan plan_sweep(const SweepRequest& request);

}  // namespace attn
