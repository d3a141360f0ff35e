// A sweep as it is trained: the rows of its file, resolved, and their runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/sweep/sweep_file.h"

namespace attn {

struct Context;
class TextHashes;

/// One row, resolved.
struct PlannedRow : RowPlan {
  Experiment experiment;          ///< of the row's config, with its first seed
  std::filesystem::path program;  ///< its diff (cmake/ChangedProgram.cmake) or binary; empty: none
  bool selected = true;           ///< selected by --only
};

/// One run.
struct PlannedRun {
  size_t row = 0;
  std::string name;  ///< "ROW/seed-1"
  Experiment experiment;
  std::filesystem::path directory;        ///< SWEEP/ROW/seed-1
  bool finished = false;                  ///< has a result of its row, by inspect_runs
  bool rescore = false;                   ///< has one, to be scored again (SweepPlan::rescore)
  std::vector<std::string> changed = {};  ///< options in which its directory differs from its row
  std::filesystem::path program;          ///< that trains it, once it is built; empty: this one

  /// Its config file, SWEEP/ROW/seed-1.json, and its output, SWEEP/ROW/seed-1.log.
  std::filesystem::path config() const { return std::filesystem::path(directory) += ".json"; }
  std::filesystem::path log() const { return std::filesystem::path(directory) += ".log"; }
};

/// Its fields are SWEEP/sweep.json, which the report reads.
struct SweepPlan {
  std::string source;               ///< path of the sweep file
  std::string command;              ///< trains all rows
  SweepMetrics metrics;             ///< with the defaults filled in
  std::vector<std::string> tuning;  ///< what the trials have chosen, for the report
  std::vector<PlannedRow> rows;
  SweepFile file;
  std::filesystem::path directory;  ///< output directory
  std::string source_from_here;     ///< path of the sweep file from the directory
  /// Finished runs are taken from it and added to it (app/sweep/status.cpp); empty: none.
  std::filesystem::path collection;
  bool rescore = false;  ///< --rescore: runs that differ from their row in its scores alone
  /// Runs of the selected rows: the first seed of all rows, then the second seed of all, so that an
  /// interrupted sweep has the same seeds for every row.
  std::vector<PlannedRun> runs;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("source", self.source, "path of the sweep file");
    visit("source_from_here", self.source_from_here, "the same from the sweep directory");
    visit("command", self.command, "trains all rows");
    visit("about", self.file.about, "free text");
    visit("published", self.file.published, "systems with published results only");
    visit("metrics", self.metrics, "evaluators to report");
    visit("tuning", self.tuning, "what the trials have chosen");
    visit("rows", self.rows, "the rows, with their configs");
  }
};

/// What `attn sweep` was given.
struct SweepRequest {
  std::filesystem::path file;
  std::filesystem::path directory;      ///< empty: runs/NAME
  std::filesystem::path collection;     ///< --collect
  std::vector<Assignment> assignments;  ///< applied to every row
  std::vector<std::string> only;        ///< names or patterns with *; empty: all rows
  int64_t seeds = 0;                    ///< 0: as in the file
  std::optional<int> threads;           ///< --threads, on which rounding depends
  bool rescore = false;                 ///< --rescore
  bool dry_run = false, no_measure = false;
  double seconds = 3.0;  ///< of measuring the first row
  bool slurm = false, no_submit = false;
  int64_t jobs = 0;      ///< 0: one, or as many as fit on the GPUs
  std::string launcher;  ///< starts each run: "mpirun -np 2"
};

/// `attn sweep`: trains the runs of a sweep, prints a dry run, or submits a Slurm job array.
/// Returns the exit code. Throws ConfigError and DataError.
///
///   SWEEP/sweep.json            the resolved plan, for the report
///   SWEEP/vocabulary/HASH/      tokenizers, one set per combination of text and tokenizer options
///   SWEEP/cache/                encoded corpora, safe to delete
///   SWEEP/ROW/seed-1.json       config of one run
///   SWEEP/ROW/seed-1.log        its output
///   SWEEP/ROW/seed-1/           its run directory
int sweep(const SweepRequest& request, const Context& context);

/// The machine on which a sweep trains.
struct SweepMachine {
  std::string device = "auto";  ///< --device of the runs
  int64_t cores = 1;            ///< which the runs share
  int64_t gpus = 0;             ///< assigned to the runs round-robin
  int64_t jobs = 1;             ///< runs that train at a time; 0: as many as fit on the GPUs
  bool threads_given = false;   ///< whether the cores are those of --threads
};

/// Reads the file and resolves every row before any row is trained. Throws ConfigError with the row
/// and the path of the first error.
SweepPlan plan_sweep(const SweepRequest& request);

/// The evaluators whose scores a report has: the chosen ones, else the first of each kind. Throws
/// ConfigError, beginning with `place`.
SweepMetrics chosen_metrics(const Experiment& experiment, const SweepMetrics& chosen,
                            const std::string& place);

/// The run of a row with its k-th seed, from 0.
PlannedRun run_of(const SweepPlan& plan, size_t row, int64_t k);

/// Plans the runs of the selected rows; sets each row's config and in what it differs from the
/// first. May throw.
void plan_runs(SweepPlan& plan);

// Fair tuning: the same trials for every row of a sweep, as a sweep of its own in SWEEP/tune.

/// All trials of a sweep with "tune", one seed each, scored by the evaluator of kind loss alone.
/// Throws ConfigError.
SweepPlan plan_trials(const SweepPlan& plan);

/// Gives all rows the settings chosen for the first one, and adds a row ROW.tuned for each that has
/// chosen others. All trials must have finished.
void choose_settings(SweepPlan& plan, const SweepPlan& trials);

// The runs' state in their directories and in the collection: the small files of finished runs,
// with which a sweep continues on another machine.
//
//   COLLECTION/ROW/seed-1/     config.json, result.json, run.json, metrics.jsonl, log.txt, eval/
//   COLLECTION/vocabulary/     as in the sweep directory

/// Sets PlannedRun::finished, changed and rescore, from the run's directory or, with `collected`
/// and if it has not begun there, from the collection. Throws DataError for an invalid result.
void inspect_runs(SweepPlan& plan, bool collected = false);

/// After inspect_runs: whether a run has not finished.
bool has_unfinished(const SweepPlan& plan);

/// Throws ConfigError naming runs whose row has changed since they were trained, also of rows that
/// are not selected, since sweep.json has all of them.
void check_configs_unchanged(SweepPlan plan);

/// Throws DataError naming runs whose data files have changed; marks those to be scored again.
void check_texts_unchanged(SweepPlan& plan, TextHashes& hashes);

/// Copies the vocabularies and the finished runs of the collection, if there is one, into the sweep
/// directory, without replacing runs that have started: these are resumed instead. Returns the
/// number of runs copied. Throws ConfigError if a run of the collection was trained with a
/// different config from that of its row, and DataError if a file is damaged or cannot be copied.
int64_t take_collected(const SweepPlan& plan);

/// Adds a finished run to the collection, if there is one, unless it is there, with its
/// vocabularies; one that was trained for fewer steps (train.steps) is replaced. Checkpoints,
/// weights and caches are not copied. Returns why it could not be added, or "".
std::string collect_run(const SweepPlan& plan, const PlannedRun& run);

}  // namespace attn
