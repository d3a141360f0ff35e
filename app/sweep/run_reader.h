// Reads the runs of a sweep's report from their directories, and notes which rows can be compared
// and what to know when comparing them.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "app/experiment/experiment.h"
#include "app/experiment/run_result.h"
#include "app/experiment/test_ledger.h"
#include "app/sweep/plan.h"
#include "report/results.h"

namespace attn {

class RunReader {
 public:
  /// Adds notes and the signatures of scores to `out`. `sentences`: whether to read translations,
  /// for tests of differences.
  RunReader(SweepResults& out, const SweepMetrics& metrics, bool sentences)
      : out_(out), metrics_(metrics), sentences_(sentences) {}

  /// The run in this directory, finished or not. `own`: its experiment; `row`: the row's, for the
  /// number of steps. Throws DataError if its files are corrupt.
  RunRecord read(const std::filesystem::path& run, const std::string& name, const Experiment& own,
                 const Experiment& row);
  /// Adds a note for each test set: how often the runs that were read, and others, have scored it.
  void note_tests();

 private:
  int64_t read_curves(const std::filesystem::path& run, const Experiment& row, RunRecord& record);
  void read_finished(const std::filesystem::path& run, const Experiment& experiment,
                     const RunResult& result, RunRecord& record);
  bool same_score(const EvaluatorResult& result, const RunRecord& record, std::string& signature);
  void read_sentences(const std::filesystem::path& run, const Experiment& experiment,
                      const EvaluatorResult& result, double score, RunRecord& record);

  SweepResults& out_;
  SweepMetrics metrics_;
  bool sentences_;
  std::map<std::string, TestScorings> tests_;  // by text key
};

/// Sets RowRecord::incomparable, and adds a note to the results for each reason: a metric that was
/// computed on a different text from the first row's, and perplexity per token of a different
/// vocabulary. `experiments` are those of the rows.
void mark_incomparable(SweepResults& out, std::span<const Experiment> experiments);

/// Adds a note for each row whose logged losses equal its baseline's bit for bit, although options
/// differ that decide how it is trained: a fast path or an edited model may have missed the option.
void note_ineffective(SweepResults& out, std::span<const Experiment> experiments);

/// Adds notes of the rows that were trained by formulas as edited, without their fast paths, and of
/// those trained by different commits.
void note_builds(SweepResults& out);

}  // namespace attn
