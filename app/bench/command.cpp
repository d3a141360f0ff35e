#include "app/bench/command.h"

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/bench/peak.h"
#include "app/bench/step.h"
#include "base/file.h"

namespace attn {
namespace {

struct BenchOptions {
  std::filesystem::path config;
  std::vector<std::string> assignments;
  StepBenchmarkOptions step;
  bool json = false;
};

void print_line(const char* what, double value, const char* unit) {
  std::printf("%-34s %10.4g %s\n", what, value, unit);
}

void bench_step(const BenchOptions& options) {
  const Experiment experiment = load_experiment(options.config, options.assignments);
  StepBenchmarkOptions step = options.step;
  const bool temporary = step.cache.empty();
  if (temporary) step.cache = std::filesystem::temp_directory_path() / "attn-bench";
  const StepBenchmark result = benchmark_step(experiment, step);
  const double peak = matrix_product_peak(experiment.train.precision);
  if (options.json) {
    Json json = write_config(result);
    json["peak_flops"] = peak;
    std::cout << json.dump(2) << "\n";
    return;
  }
  if (!result.real_data) {
    std::cerr << "the training text is not here: invented pairs of 10 to 40 tokens instead\n";
  }
  print_line("parameters", static_cast<double>(result.parameters) / 1e6, "million");
  print_line("training speed", result.tokens_per_second, "target tokens/s");
  print_line("matrix products", result.flops_per_second / 1e9, "GFLOP/s");
  print_line("  of the machine's peak", 100 * result.flops_per_second / peak, "%");
  print_line("one update", result.flops_per_update / 1e9, "GFLOP");
  print_line("one update", result.tokens_per_update, "target tokens");
  print_line("one update", result.seconds_per_update, "s");
  print_line("memory at most", result.memory / 1e9, "GB");
}

void bench_peak(const BenchOptions& options) {
  const double fp32 = matrix_product_peak(Precision::fp32),
               bf16 = matrix_product_peak(Precision::bf16);
  if (options.json) {
    std::cout << Json{{"fp32", fp32}, {"bf16", bf16}}.dump(2) << "\n";
    return;
  }
  print_line("fp32 matrix product", fp32 / 1e9, "GFLOP/s");
  print_line("bf16 matrix product", bf16 / 1e9, "GFLOP/s");
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Time this machine on an experiment");
  command->require_subcommand(1);
  command->footer("Example: attn bench step experiments/multi30k/tiny.json; attn bench peak");
  CLI::App* step = command->add_subcommand("step", "The training step of a config");
  step->add_option("config", options->config, "a config")->required();
  step->add_option("--set", options->assignments, "path=value")->allow_extra_args(false);
  step->add_option("--seconds", options->step.seconds, "of measuring")->capture_default_str();
  step->add_option("--batch-tokens", options->step.batch_tokens,
                   "largest batch to measure; a config's larger ones are scaled from it")
      ->capture_default_str();
  step->add_option("--cache", options->step.cache,
                   "directory of encoded texts (default: one for all, in the temporary directory)");
  step->add_option("--vocabulary", options->step.vocabulary,
                   "size of the invented vocabulary where the text is missing");
  step->add_flag("--json", options->json, "values as JSON, in full precision");
  step->callback([options] { bench_step(*options); });
  CLI::App* peak = command->add_subcommand("peak", "The fastest matrix product");
  peak->add_flag("--json", options->json, "values as JSON");
  peak->callback([options] { bench_peak(*options); });
}

}  // namespace attn
