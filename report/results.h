// What a sweep measured, as a report needs it: plain data, filled from the runs' directories.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/metrics/bleu.h"
#include "report/metric.h"

namespace attn {

/// A validation during training.
struct CurvePoint {
  int64_t step = 0;
  double ppl = 0.0;
};

/// One training: a row with one seed.
struct RunRecord {
  std::string name;  ///< "B1/seed-1"
  int64_t seed = 0;
  bool finished = false;
  std::string state;  ///< for people, when it doesn't count: "at step 300 of 8000"
  PerMetric<std::optional<double>> figures;
  int64_t parameters = 0;
  int64_t target_tokens = 0;
  double seconds = 0.0;            ///< in training
  double tokens_per_second = 0.0;  ///< target tokens
  double flops = 0.0;              ///< of all updates
  double peak_flops = 0.0;         ///< a second: the machine's, in matrix products
  int64_t peak_memory = 0;         ///< bytes
  std::vector<CurvePoint> curve;
  std::vector<BleuStatistics> sentences;  ///< empty: no outputs, or not the text they were of
  /// What it takes to get it again: "commit", "seed", "data", "processor" … in the order to print.
  std::vector<std::pair<std::string, std::string>> provenance;
};

/// The paper's figures for a row.
struct PaperRecord {
  PerMetric<std::optional<double>> figures;
  std::optional<double> params_m;
};

struct RowRecord {
  std::string name;
  std::string about;
  std::map<std::string, std::string> values;  ///< of every option, by path, as JSON text
  std::vector<std::string> changed;           ///< paths in which it differs from the first row
  PaperRecord paper;
  std::vector<RunRecord> runs;  ///< by seed
};

struct SweepResults {
  std::string title;
  std::string about;
  std::string command;                ///< that makes it all again
  std::string made;                   ///< when and by which version, for the foot of the page
  PerMetric<std::string> evaluators;  ///< their names; empty: none
  PerMetric<std::string> signatures;  ///< of scores that have one
  BleuOptions bleu_options;
  std::vector<RowRecord> rows;     ///< the first is what the others are compared with
  std::vector<std::string> notes;  ///< what a reader must know: runs left out, texts changed
};

}  // namespace attn
