// result.json: what a finished run came to, for reports. Its presence says that the run finished.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/run_directory.h"
#include "base/json_config.h"
#include "train/config.h"

namespace attn {

/// In run.json from the first checkpoint on: its step.
inline constexpr const char* kFirstCheckpoint = "first_checkpoint";

/// What an evaluator found after the last step.
struct EvaluatorResult {
  std::map<std::string, double> values;  ///< "ppl", "bleu" …
  std::string signature;                 ///< of BLEU or F1
  std::string output;                    ///< the file of translations or trees, below the run
  std::string text;                      ///< evaluation_key() of what was scored

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("values", self.values, "by name");
    visit("signature", self.signature, "of the score");
    visit("output", self.output, "file of the outputs, below the run");
    visit("text", self.text, "content hash of the text that was scored");
  }
  bool operator==(const EvaluatorResult&) const = default;
};

struct RunResult {
  int64_t step = 0;
  int64_t parameters = 0;
  int64_t target_tokens = 0;
  double seconds = 0.0;
  double tokens_per_second = 0.0;
  double flops = 0.0;
  double peak_flops = 0.0;
  int64_t peak_memory = 0;
  std::map<std::string, EvaluatorResult> results;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("step", self.step, "updates made");
    visit("parameters", self.parameters, "trained");
    visit("target_tokens", self.target_tokens, "trained on, over all epochs");
    visit("seconds", self.seconds, "in training, without evaluating and saving");
    visit("tokens_per_second", self.tokens_per_second, "target tokens");
    visit("flops", self.flops, "of all updates, in closed form: three forward passes each");
    visit("peak_flops", self.peak_flops,
          "per second: this machine's, with these threads, in a large matrix product");
    visit("peak_memory", self.peak_memory,
          "bytes at most (resident, or of the GPU), in the last process");
    visit("results", self.results, "of the evaluators, after the last step");
  }
  bool operator==(const RunResult&) const = default;
};

/// Throws DataError.
void write_result(const RunDirectory& run, const RunResult& result);

/// Nothing when the run has not finished. Throws DataError for a broken file.
std::optional<RunResult> read_result(const RunDirectory& run);

/// The result of a run that has trained for as long as `config` wants. Throws DataError for a
/// broken file.
std::optional<RunResult> finished_result(const RunDirectory& run, const TrainConfig& config);

/// RUN/run.json; nothing where there is none. Throws ConfigError or DataError.
std::optional<Json> read_run_file(const RunDirectory& run);

/// The threads that a run with a checkpoint or a result began with; nothing where they are not
/// known. Throws ConfigError or DataError.
std::optional<int64_t> begun_threads(const RunDirectory& run);

/// A record's number under `key`; nothing where there is none, or one of the log's words for what
/// is not finite.
std::optional<double> number_at(const Json& record, const char* key);

/// The records of RUN/metrics.jsonl, oldest first; their "kind" is "train" or "eval". A torn or
/// foreign line is passed over. Empty without a file. Throws DataError when it can't be read.
std::vector<Json> read_metrics(const RunDirectory& run);

/// The evaluators' results at `step`, from the metrics.
std::map<std::string, EvaluatorResult> results_at(const RunDirectory& run, int64_t step);

}  // namespace attn
