// Results of a sweep: plain data, read from the run directories.
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

/// The evaluator of learning curves of training itself.
inline constexpr const char* kTrainingCurve = "training";
inline constexpr const char* kCheckpoint = "checkpoint";

/// A point of a learning curve.
struct CurvePoint {
  int64_t step = 0;
  std::string evaluator;  ///< "valid", or kTrainingCurve
  std::string weights;    ///< kCheckpoint or "average"
  std::string metric;     ///< "ppl"
  double value = 0.0;
};

enum class RunState {
  unfinished,
  finished,
  failed,
  omitted  ///< trained or evaluated with another config or text than the row has now
};

/// One run: a row with one seed.
struct RunRecord {
  std::string name;  ///< "B1/seed-1"
  int64_t seed = 0;
  RunState state = RunState::unfinished;
  std::string status;  ///< "at step 300 of 8000"; if finished: early stopping, or empty
  PerMetric<std::optional<double>> scores;
  PerMetric<std::string> texts;   ///< hash of the evaluated text; empty: unknown
  std::string target_vocabulary;  ///< hash of its file; empty: unknown
  std::string precision;          ///< in which it was trained; empty: unknown
  std::string commit;             ///< of the program that started it; empty: unknown
  std::string as_read;            ///< fast paths that were off: their formula was edited
  std::string changes;            ///< options changed while it was trained, and from which step
  int64_t parameters = 0;
  int64_t target_tokens = 0;
  double seconds = 0.0;            ///< training time
  double tokens_per_second = 0.0;  ///< target tokens
  double flops = 0.0;              ///< training FLOPs of all updates
  double peak_flops = 0.0;         ///< peak FLOP/s of the machine
  int64_t peak_memory = 0;         ///< bytes
  std::vector<CurvePoint> curve;
  std::vector<double> losses;  ///< all logged ones: of training, and perplexities of validation
  std::vector<BleuStatistics> sentences;  ///< empty: outputs or references missing
  /// "commit", "seed", "data", "processor" …, in display order.
  std::vector<std::pair<std::string, std::string>> provenance;

  bool is_finished() const { return state == RunState::finished; }
};

/// The paper's results for a row.
struct PaperRecord {
  PerMetric<std::optional<double>> scores;
  std::optional<double> params_m;
  std::optional<double> flops;  ///< training FLOPs
};

/// A system that is only published.
struct PublishedRecord {
  std::string name;
  PaperRecord paper;
};

struct RowRecord {
  std::string name;
  std::string about;
  std::string group;                          ///< its heading in the report; empty: none given
  std::map<std::string, std::string> values;  ///< value of every option as JSON text, by path
  std::vector<std::string> changed;           ///< paths in which it differs from the first row
  size_t baseline = 0;                        ///< the row that it is compared with
  /// The first earlier row that trains the same weights and is only evaluated differently.
  std::optional<size_t> equivalent_row;
  PaperRecord paper;
  std::vector<RunRecord> runs;              ///< by seed
  std::string change_label = {};            ///< "diff sigmoid.diff (hash)"; empty: no change
  std::string change = {};                  ///< the diff, or version and hash of the binary
  std::vector<int64_t> missing_seeds = {};  ///< planned, but without a run
  /// Scored on a different text from the first row's or the baseline's, or (perplexity) per token
  /// of a different vocabulary: no difference, also for the rows whose baseline it is.
  PerMetric<bool> incomparable = {};

  /// The mean of value(run) over the finished runs; NaN without one.
  template <class Value>
  double mean(Value value) const {
    double sum = 0.0, count = 0.0;
    for (const RunRecord& run : runs) {
      if (!run.is_finished()) continue;
      sum += static_cast<double>(value(run));
      ++count;
    }
    return sum / count;
  }
};

struct SweepResults {
  std::string title;
  std::string about;
  bool single_run = false;            ///< of a run that is in no sweep
  std::string command;                ///< to reproduce the sweep
  std::string made;                   ///< version that wrote the report
  PerMetric<std::string> evaluators;  ///< their names; empty: none
  PerMetric<std::string> signatures;  ///< signatures of scores
  BleuOptions bleu_options;
  std::vector<RowRecord>
      rows;  ///< the first one is the baseline of the others, unless they name one
  std::vector<PublishedRecord> published;  ///< for the table of costs
  std::vector<std::string> notes;          ///< e.g. omitted runs, changed texts
};

}  // namespace attn
