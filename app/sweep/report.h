// The report of a sweep or of a single run: reads the runs from their directories.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/run_result.h"
#include "app/experiment/test_ledger.h"
#include "report/comparison.h"
#include "report/results.h"

namespace attn {

/// Reads runs for `out`, whose evaluators are set: adds notes, and the signatures of scores.
class RunReader {
 public:
  explicit RunReader(SweepResults& out) : out_(out) {}

  /// The run in this directory, finished or not. `own`: its experiment; `row`: the row's, for the
  /// number of steps. Throws DataError if its files are corrupt.
  RunRecord read(const std::filesystem::path& run, const std::string& name, const Experiment& own,
                 const Experiment& row);
  /// Adds a note for each test set: how often the runs that were read, and others, have scored it.
  void note_tests();

 private:
  int64_t read_curves(const std::filesystem::path& run, const Experiment& own,
                      const Experiment& row, RunRecord& record);
  void read_scores(const std::filesystem::path& run, const Experiment& experiment,
                   const RunResult& result, RunRecord& record);
  ResampledSystem read_outputs(const std::filesystem::path& output, const DataConfig& data,
                               const EvaluatorConfig& evaluator, double score,
                               const std::string& run);

  SweepResults& out_;
  std::map<std::string, TestScorings> tests_;  // by text key
};

/// Sets RowRecord::incomparable, and adds a note to the results for each reason: a metric that was
/// computed on a different text from the first row's, and perplexity per token of a different
/// vocabulary. `experiments` are those of the rows.
void mark_incomparable(SweepResults& out, std::span<const Experiment> experiments);

/// Sets RowRecord::equivalent_row: of rows with the same training config, those whose runs with the
/// same seed logged the same losses. Others are trainings of their own, on another machine.
void mark_equivalent(SweepResults& out, std::span<const Experiment> experiments);

/// Adds a note for each row whose logged losses equal its baseline's bit for bit, although options
/// differ that decide how it is trained: a fast path or an edited model may have missed the option.
/// Also for each row with the options of its baseline.
void note_ineffective(SweepResults& out, std::span<const Experiment> experiments);

/// Adds notes of the rows that were trained by formulas as edited, without their fast paths, and of
/// those trained by different commits.
void note_builds(SweepResults& out);

/// Results and comparisons of a sweep, or of a run.
struct Report {
  /// Reads the plan of a sweep (sweep.json) and the existing runs, finished or not, or a single run
  /// as one row. Omits, with a note, runs whose config differs from their row or that have a
  /// damaged file. Throws ConfigError, and DataError if it is neither.
  explicit Report(const std::filesystem::path& directory);

  /// Writes report.md, rows.csv, runs.csv, curves.csv, table.tex and report.json, from which
  /// tools/report draws the page, into the directory; returns the text of one of them.
  std::string write(const std::string& returned = "report.md") const;

  std::filesystem::path directory;
  SweepResults results;
  std::vector<RowComparison> comparisons;
};

}  // namespace attn
