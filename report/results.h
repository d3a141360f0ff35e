// Results of runs and sweeps: plain data, read from the run directories. What has a list of fields
// is written and read as JSON (base/json_config.h): result.json of a run, the rows of sweep.json.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "base/json_patch.h"
#include "eval/metrics/bootstrap.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

/// Identified by its kind of evaluator.
using Metric = EvaluatorKind;

struct MetricFacts : EvaluatorMetric {
  Metric metric;
};

template <size_t... I>
constexpr auto declared_metrics(std::index_sequence<I...>) {
  return std::array{MetricFacts{std::variant_alternative_t<I, EvaluatorConfig::Options>::metric,
                                static_cast<Metric>(I)}...};
}

/// In the order of columns, which is that of Metric.
inline constexpr auto kMetrics =
    declared_metrics(std::make_index_sequence<std::variant_size_v<EvaluatorConfig::Options>>());

/// One value for each metric, in JSON by its key.
template <class T>
class PerMetric {
 public:
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    for (const MetricFacts& facts : kMetrics) {
      visit(facts.key, self[facts.metric], std::is_same_v<T, double> ? facts.meaning : "evaluator");
    }
  }
  T& operator[](Metric metric) { return values_[static_cast<size_t>(metric)]; }
  const T& operator[](Metric metric) const { return values_[static_cast<size_t>(metric)]; }
  bool operator==(const PerMetric&) const = default;

 private:
  std::array<T, kMetrics.size()> values_{};
};

/// How training ended: at train.steps, by early stopping (train.patience), or with weights that are
/// worse than none.
enum class RunEnd { steps, patience, diverged };
template <>
struct EnumNames<RunEnd> {
  static constexpr auto values = std::to_array<EnumName<RunEnd>>(
      {{RunEnd::steps, "steps"}, {RunEnd::patience, "patience"}, {RunEnd::diverged, "diverged"}});
};

/// Final result of an evaluator.
struct EvaluatorResult {
  std::map<std::string, double> values;  ///< "ppl", "bleu" …
  std::string signature;                 ///< signature of BLEU or F1
  std::string output;                    ///< file of translations or trees, relative to the run
  std::string text;                      ///< evaluation_key() of what was scored

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("values", self.values, "scores by name");
    visit("signature", self.signature, "signature of the score");
    visit("output", self.output, "file of the outputs, relative to the run");
    visit("text", self.text, "hash of the evaluation text");
  }
  bool operator==(const EvaluatorResult&) const = default;
};

/// Key in result.json and run.json: the fast paths that were off because their formula was edited.
inline constexpr const char* kAsRead = "as_read";

/// result.json of a finished run.
struct RunResult {
  int64_t step = 0;
  RunEnd end = RunEnd::steps;
  int64_t parameters = 0;
  int64_t target_tokens = 0;
  double seconds = 0.0;
  double tokens_per_second = 0.0;
  double flops = 0.0;
  double peak_flops = 0.0;
  int64_t peak_memory = 0;
  std::vector<std::string> as_read;
  std::map<std::string, EvaluatorResult> results;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("step", self.step, "number of updates");
    visit("end", self.end, "how training ended: at train.steps, by train.patience, or diverged");
    visit("parameters", self.parameters, "trainable parameters");
    visit("target_tokens", self.target_tokens, "target tokens trained on, over all epochs");
    visit("seconds", self.seconds, "training time, without evaluation and checkpoints");
    visit("tokens_per_second", self.tokens_per_second, "target tokens per second");
    visit("flops", self.flops,
          "training FLOPs in closed form: three times the forward pass per update");
    visit("peak_flops", self.peak_flops,
          "peak FLOP/s of a large matrix product on this machine, with these threads");
    visit("peak_memory", self.peak_memory,
          "peak memory of the last process in bytes (resident, or GPU)");
    visit(kAsRead, self.as_read,
          "fast paths that were off because their formulas were edited (docs/howto/formula.md)");
    visit("results", self.results, "final results, by evaluator");
  }
  bool operator==(const RunResult&) const = default;

  /// The score `key` of an evaluator, if the run has it.
  std::optional<double> score(const std::string& evaluator, const std::string& key) const {
    const auto found = results.find(evaluator);
    if (found == results.end() || !found->second.values.contains(key)) return {};
    return found->second.values.at(key);
  }
};

/// The evaluator of learning curves of training itself.
inline constexpr const char* kTrainingCurve = "training";
inline constexpr const char* kCheckpoint = "checkpoint";

/// A point of a learning curve.
struct CurvePoint {
  int64_t step = 0;
  std::string evaluator;  ///< "valid", or kTrainingCurve
  std::string weights;    ///< kCheckpoint, "average" or "best"
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
  RunResult result;    ///< if finished
  PerMetric<std::optional<double>> scores;
  PerMetric<std::string> texts;   ///< hash of the evaluated text; empty: unknown
  std::string target_vocabulary;  ///< hash of its file; empty: unknown
  std::string commit;             ///< of the program that started it; empty: unknown
  std::string as_read;            ///< fast paths that were off: their formula was edited
  std::string changes;            ///< options changed while it was trained, and from which step
  std::vector<CurvePoint> curve;
  std::vector<double> losses;          ///< all logged ones of training
  std::vector<double> perplexities;    ///< all logged ones of validation
  PerMetric<ResampledSystem> outputs;  ///< without sentences: outputs or references missing
  /// "commit", "data", "processor" …, in display order.
  std::vector<std::pair<std::string, std::string>> provenance;

  bool is_finished() const { return state == RunState::finished; }
};

/// The paper's results for a row; 0: none.
struct PaperResults {
  PerMetric<double> scores;
  double params_m = 0.0;
  std::string params_note;
  double flops = 0.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    PerMetric<double>::fields(self.scores, visit);
    visit("params_m", self.params_m, "parameters in millions; checked if paper_vocabulary is set");
    visit("params_note", self.params_note,
          "why the parameters differ from the paper's; disables the check");
    visit("flops", self.flops, "training FLOPs, for the table of costs");
  }
  bool operator==(const PaperResults&) const = default;
};

/// A system that is not trained, for the table of costs.
struct PublishedSystem {
  std::string name;
  PaperResults paper;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "name of the system");
    visit("paper", self.paper, "its published results");
  }
  bool operator==(const PublishedSystem&) const = default;
};

/// Another program than the sweep's own, which trains a row: a build of its commit with a diff, or
/// a binary that the user has built.
struct ProgramChange {
  std::string kind;  ///< "diff" or "binary"; empty: no change
  std::string file;
  std::string hash;    ///< of the record
  std::string record;  ///< RUN/change.txt: the diff, or version and hash of the binary

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kind", self.kind, "diff or binary; empty: none");
    visit("file", self.file, "name of the file");
    visit("hash", self.hash, "hash of the record");
    visit("record", self.record, "the diff, or version and hash of the binary");
  }
  /// "diff sigmoid.diff (1f2e3d4c)"; empty without a change.
  std::string label() const {
    return kind.empty() ? "" : kind + " " + file + " (" + hash.substr(0, 8) + ")";
  }
};

/// What is planned of a row: an entry of sweep.json.
struct RowPlan {
  std::string name;
  std::string about;
  std::string group;     ///< its heading in the report; empty: none given
  int64_t baseline = 0;  ///< the row that it is compared with, from 0
  int64_t seeds = 1;     ///< runs planned for it
  PaperResults paper;
  std::vector<std::string> changed;  ///< paths in which it differs from the first row
  ProgramChange change;
  Json config;  ///< its experiment, resolved

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "name of the row and of its directory");
    visit("about", self.about, "description for the report");
    visit("group", self.group, "heading in the report");
    visit("baseline", self.baseline, "number, from 0, of the row that this one is compared with");
    visit("seeds", self.seeds, "runs with different seeds");
    visit("paper", self.paper, "the paper's results");
    visit("changed", self.changed, "paths of the options in which it differs from the first row");
    visit("change", self.change, "of the program");
    visit("config", self.config, "the experiment, resolved");
  }
};

struct RowRecord : RowPlan {
  std::map<std::string, std::string> values;  ///< value of every option as JSON text, by path
  /// The first earlier row whose trainings these are, which is only evaluated differently.
  std::optional<size_t> equivalent_row;
  std::vector<RunRecord> runs;  ///< by seed
  size_t missing = 0;           ///< seeds that are planned, but without a run
  /// Scored on a different text from the first row's or the baseline's, or (perplexity) per token
  /// of a different vocabulary: no difference, also for the rows whose baseline it is.
  PerMetric<bool> incomparable;

  /// The mean of value(result) over the finished runs; NaN without one.
  template <class Value>
  double mean(Value value) const {
    double sum = 0.0, count = 0.0;
    for (const RunRecord& run : runs) {
      if (!run.is_finished()) continue;
      sum += static_cast<double>(value(run.result));
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
  std::vector<RowRecord>
      rows;  ///< the first one is the baseline of the others, unless they name one
  std::vector<PublishedSystem> published;  ///< for the table of costs
  std::vector<std::string> notes;          ///< e.g. omitted runs, changed texts
};

}  // namespace attn
