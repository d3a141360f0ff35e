// Estimated costs of a sweep's rows: the first one is trained for some seconds, the others are
// scaled by their FLOPs.
#pragma once

#include <cstdint>
#include <optional>

#include "app/sweep/plan.h"
#include "model/size.h"

namespace attn {

/// Output of `attn bench step`: the cost of training, measured on this machine and scaled to the
/// experiment's batches.
struct StepBenchmark {
  bool real_data = false;
  int64_t parameters = 0;
  int64_t source_vocabulary = 0, target_vocabulary = 0, source_features = 0;
  double flops_per_update = 0.0, tokens_per_update = 0.0, tokens_per_pair = 0.0;
  double flops_per_second = 0.0, tokens_per_second = 0.0, seconds_per_update = 0.0;
  double memory = 0.0;
  double peak_flops = 0.0;
  int64_t pairs = 0;
  double updates_per_epoch = 0.0;
  int64_t longest = 0;
  double device_memory = 0.0;
  double unknown_source = 0.0, unknown_target = 0.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("real_data", self.real_data, "false: synthetic pairs, since the text is missing");
    visit("parameters", self.parameters, "trainable parameters");
    visit("source_vocabulary", self.source_vocabulary, "entries");
    visit("target_vocabulary", self.target_vocabulary, "entries");
    visit("source_features", self.source_features, "tags, word classes and pieces");
    visit("flops_per_update", self.flops_per_update, "FLOPs of the matrix products, closed form");
    visit("tokens_per_update", self.tokens_per_update, "target tokens");
    visit("tokens_per_pair", self.tokens_per_pair, "target tokens of a sentence pair, with EOS");
    visit("flops_per_second", self.flops_per_second, "measured");
    visit("tokens_per_second", self.tokens_per_second, "target tokens, measured");
    visit("seconds_per_update", self.seconds_per_update, "from the measured rate");
    visit("memory", self.memory, "bytes, scaled to the experiment's batches");
    visit("peak_flops", self.peak_flops, "peak FLOP/s of matrix products on this machine");
    visit("pairs", self.pairs, "sentence pairs");
    visit("updates_per_epoch", self.updates_per_epoch, "updates");
    visit("longest", self.longest, "tokens of the longest sentence, with EOS");
    visit("device_memory", self.device_memory, "bytes of the GPU; 0: a CPU, or unknown");
    visit("unknown_source", self.unknown_source, "share of the source tokens");
    visit("unknown_target", self.unknown_target, "share of the target tokens");
  }
};

struct StepBenchmarkOptions {
  double seconds = 5.0;         ///< seconds of measurement, after the first updates
  bool trace = false;           ///< updates are traced, too
  int64_t batch_tokens = 4096;  ///< largest batch measured; larger ones are extrapolated by FLOPs
  int64_t vocabulary = 0;       ///< of synthetic data; 0: data.vocab_size
  /// Sentence length of synthetic data; 0: the real text, or synthetic sentences of log-normal
  /// lengths (median 22 tokens) if it is missing.
  int64_t synthetic_length = 0;
};

/// Trains for some seconds and returns the cost of an update. Says on stderr if the text is
/// missing. Encodes it in data.cache, by default in the temporary directory.
StepBenchmark benchmark_step(const Experiment& experiment, const StepBenchmarkOptions& options,
                             const Context& context);

/// FLOPs of one update in closed form, with sentences of 25 tokens, for comparing rows.
double update_flops(const Experiment& experiment, const VocabularySizes& sizes);

/// FLOPs of all evaluations of a run, in equivalents of training FLOPs, since their rate is lower
/// than that of large products: a perplexity costs two forward passes, a search one per hypothesis
/// of its beam. A missing text counts as `default_lines` lines.
double evaluation_flops(const Experiment& experiment, const VocabularySizes& sizes,
                        double tokens_per_line, int64_t default_lines);

/// What a run of a row costs.
struct RowCost {
  int64_t parameters = 0;
  double flops = 0.0;    ///< of the training
  double seconds = 0.0;  ///< training and evaluations
  double memory = 0.0;   ///< bytes
};

/// The cost of `row` from `base`, the measured step of `measured`: the same FLOP/s; memory that
/// depends on the batch grows with the square root of the FLOPs, as activations with the width, in
/// addition to that of weights, gradients and optimizer state.
/// A row with other options of the vocabulary has data.vocab_size tokens.
RowCost scaled_cost(const Experiment& row, const Experiment& measured, const StepBenchmark& base);

/// Runs that train at a time on GPUs: as many as each has memory for of `largest` bytes, 16 at
/// most, and in all one per core; at least one per GPU.
int64_t jobs_that_fit(double device_memory, double largest, int64_t gpus, int64_t cores);
/// The same for a sweep, whose first row is trained for some seconds; one on each GPU if it cannot
/// be trained.
int64_t jobs_on_gpus(const SweepPlan& plan, const SweepMachine& machine, double seconds);

/// Throws ConfigError naming the rows whose number of parameters, with a vocabulary of
/// paper_vocabulary tokens, differs from the paper's by more than rounding. Without
/// paper_vocabulary there is no check.
void check_parameters(const SweepPlan& plan);

/// Prints the cost of the trials of a tuned sweep. Then prints for each row the parameters (and the
/// paper's), training FLOPs, estimated time and memory and the differences from the first row; then
/// the totals, and those of the runs that are not yet finished. `seconds`: of measurement;
/// std::nullopt: measures nothing, so that FLOPs, time and memory are unknown. Prints nothing if a
/// stop signal (catch_stop_signals) ends the measurement. Throws like check_parameters(), at last.
void dry_run(const SweepPlan& plan, const std::optional<SweepPlan>& trials,
             const SweepMachine& machine, std::optional<double> seconds);

}  // namespace attn
