#include "app/commands/bench_step.h"

#include <unistd.h>
#include <iostream>
#include <memory>

#include "app/bench/step.h"
#include "app/commands/arguments.h"
#include "app/commands/bench_options.h"
#include "app/experiment/experiment.h"
#include "app/machine/peak.h"
#include "base/file.h"
#include "base/format.h"
#include "train/precision.h"

namespace attn {
namespace {

struct BenchStepArguments {
  BenchConfig config;
  StepBenchmarkOptions step;
  bool json = false;
};

void bench_step(const BenchStepArguments& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config.file, options.config.assignments);
  StepBenchmarkOptions step = options.step;
  const bool temporary = step.cache.empty();
  if (temporary) step.cache = temporary_root() / format("attn-bench-%u", ::getuid());
  StepBenchmark result = benchmark_step(experiment, step, device);
  const Precision precision = effective_precision(experiment.train.precision, device);
  result.peak_flops = matrix_product_peak(precision, device);
  if (options.json) {
    std::cout << write_config(result).dump(2) << "\n";
    return;
  }
  if (!result.real_data && step.synthetic_length == 0) {
    std::cerr << "the training text is missing: measuring on synthetic pairs of log-normal "
                 "lengths (median 22 tokens)\n";
  }
  print_measurement("parameters", static_cast<double>(result.parameters) / 1e6, "million");
  print_measurement("training speed", result.tokens_per_second, "target tokens/s");
  print_measurement("matrix products", result.flops_per_second / 1e9, "GFLOP/s");
  print_measurement("  of this machine's peak", 100 * result.flops_per_second / result.peak_flops,
                    "%");
  print_measurement("one update", result.flops_per_update / 1e9, "GFLOP");
  print_measurement("one update", result.tokens_per_update, "target tokens");
  print_measurement("one update", result.seconds_per_update, "s");
  print_measurement("peak memory", result.memory / 1e9, "GB");
}

}  // namespace

void add_bench_step_command(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<BenchStepArguments>();
  CLI::App* step = bench.add_subcommand("step", "One training step: tokens/s, FLOP/s, memory");
  step->footer("Example: attn bench step experiments/multi30k/tiny.json");
  add_bench_config(step, options->config);
  step->add_option("--seconds", options->step.seconds, "seconds of measurement")
      ->check(number_from(0.0, 3600.0))
      ->capture_default_str();
  step->add_option("--batch-tokens", options->step.batch_tokens,
                   "largest batch to measure, in tokens; larger ones are extrapolated")
      ->check(CLI::Range(int64_t{1}, kLargestBenchmark))
      ->capture_default_str();
  step->add_option("--cache", options->step.cache,
                   "directory of the encoded corpora (default: in the temporary directory)");
  step->add_option("--vocabulary", options->step.vocabulary,
                   "vocabulary size of synthetic data, used if the text is missing")
      ->check(CLI::Range(int64_t{0}, kLargestBenchmark));
  step->add_option("--synthetic", options->step.synthetic_length,
                   "measure on synthetic sentences of this length, in tokens")
      ->check(CLI::Range(int64_t{1}, kLargestBenchmark));
  step->add_flag("--json", options->json, "print JSON in full precision");
  step->callback([options, &context] { bench_step(*options, context.device); });
}

}  // namespace attn
