// Reads the runs of a sweep's report from their directories.
#pragma once

#include <filesystem>
#include <string>

#include "app/experiment/experiment.h"
#include "app/experiment/run_result.h"
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

 private:
  int64_t read_curves(const std::filesystem::path& run, RunRecord& record) const;
  void read_finished(const std::filesystem::path& run, const Experiment& experiment,
                     const RunResult& result, RunRecord& record);
  bool same_score(const EvaluatorResult& result, const RunRecord& record, std::string& signature);
  void read_sentences(const std::filesystem::path& run, const Experiment& experiment,
                      const EvaluatorResult& result, double score, RunRecord& record);

  SweepResults& out_;
  SweepMetrics metrics_;
  bool sentences_;
};

}  // namespace attn
