#include "app/commands/commands.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>

#include "app/experiment/checkpoint.h"
#include "app/experiment/experiment.h"
#include "app/experiment/run_directory.h"
#include "app/machine/device.h"
#include "app/sweep/costs.h"
#include "base/error.h"
#include "base/format.h"
#include "base/json_config.h"
#include "data/lines.h"
#include "eval/tasks/translator.h"
#include "kernels/ops/measure.h"
#include "train/batch_gradient.h"

namespace attn {
namespace {

constexpr int64_t kLargest = 1 << 20;  // tokens or lines

/// The config, or run, that is measured.
struct Measured {
  std::filesystem::path file;
  std::vector<Assignment> assignments;  ///< path=value
  bool json = false;
};

void add_measured(CLI::App* command, Measured& measured, double& seconds, const std::string& name,
                  const std::string& about) {
  command->add_option(name, measured.file, about)->required();
  add_set(command, measured.assignments);
  add_number(command, "--seconds", seconds, "seconds of each measurement", 0.001, 3600.0);
  command->add_flag("--json", measured.json, "print JSON in full precision");
}

// --- step: training

struct StepArguments : Measured {
  StepBenchmarkOptions step;
};

void bench_step(const StepArguments& options, const Context& context) {
  const Experiment experiment = load_experiment(options.file, options.assignments);
  StepBenchmark result = benchmark_step(experiment, options.step, context);
  const Precision precision = effective_precision(experiment.train.precision, context.device);
  result.peak_flops = matrix_product_peak(precision, context.device);
  if (options.json) {
    std::cout << write_config(result).dump(2) << "\n";
    return;
  }
  print_step(experiment, result);
}

void add_step(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<StepArguments>();
  CLI::App* step = bench.add_subcommand("step", "One training step: tokens/s, FLOP/s, memory");
  step->footer("Example: attn bench step experiments/multi30k/tiny.json");
  add_measured(step, *options, options->step.seconds, "config", "config file");
  step->add_option("--batch-tokens", options->step.batch_tokens,
                   "largest batch to measure, in tokens; larger ones are extrapolated")
      ->check(CLI::Range(int64_t{256}, kLargest))
      ->capture_default_str();
  step->add_option("--vocabulary", options->step.vocabulary,
                   "vocabulary size of synthetic data, used if the text is missing")
      ->check(CLI::Range(int64_t{0}, kLargest));
  step->add_option("--synthetic", options->step.synthetic_length,
                   "measure on synthetic sentences of this length, in tokens")
      ->check(CLI::Range(int64_t{1}, kLargest));
  step->add_flag("--trace", options->step.trace,
                 "also print where the time goes: a GPU's kernels, or a CPU's operators");
  step->callback([options, &context] { bench_step(*options, context); });
}

// --- search: translation

struct SearchArguments : Measured {
  double seconds = 10.0;
  std::filesystem::path text;
  std::vector<int64_t> at_once = {1, 32, 1000};
};

/// Translates the lines, `at_once` per call, until all are translated or `seconds` have passed (at
/// least one call), after one warm-up call.
Json measure_search(Translator& translator, std::span<const std::string> lines, size_t at_once,
                    double seconds) {
  translator.translate(lines.first(at_once));
  size_t sentences = 0;
  double spent = 0.0;
  const auto begin = std::chrono::steady_clock::now();
  while (sentences < lines.size() && (sentences == 0 || spent < seconds)) {
    const size_t size = std::min(at_once, lines.size() - sentences);
    translator.translate(lines.subspan(sentences, size));
    sentences += size;
    spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return {{"at_once", at_once},
          {"sentences", sentences},
          {"seconds", spent},
          {"sentences_per_second", static_cast<double>(sentences) / spent}};
}

void bench_search(const SearchArguments& options, torch::Device device) {
  LoadedModel loaded = load_model(options.file, device, options.assignments);
  if (loaded.experiment.data.task == Task::parsing) {
    throw ConfigError(options.file.string() + ": a parser; give a translator");
  }
  const std::vector<std::string> lines = read_lines(options.text);
  if (lines.empty()) throw DataError(options.text.string() + ": empty file; nothing to translate");
  Translator translator(*loaded.model, loaded.tokenizers, loaded.experiment.search);
  std::vector<size_t> sizes;
  for (const int64_t at_once : options.at_once) {
    sizes.push_back(std::min(static_cast<size_t>(at_once), lines.size()));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  Json json = Json::array();
  for (const size_t at_once : sizes) {
    Json result = measure_search(translator, lines, at_once, options.seconds);
    result["memory"] = peak_memory(device);
    if (!options.json) {
      const std::string what = "search, " + std::to_string(at_once) + " lines at once, beam " +
                               std::to_string(loaded.experiment.search.beam);
      const std::string rate = significant(result["sentences_per_second"].get<double>(), 4);
      std::cout << format("%-34s %10s sentences/s\n", what.c_str(), rate.c_str());
    }
    json.push_back(std::move(result));
  }
  if (options.json) std::cout << json.dump(2) << "\n";
}

void add_search(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App* search =
      bench.add_subcommand("search", "Beam search of a trained translator: sentences/s");
  search->footer(
      "Example: attn bench search runs/tiny corpora/multi30k/test_2016_flickr.lc.norm.tok.en");
  add_measured(search, *options, options->seconds, "run", kModelArgument);
  search->add_option("text", options->text, "text to translate")->required();
  search->add_option("--at-once", options->at_once, "lines per call (default: 1,32,1000)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, kLargest));
  search->callback([options, &context] { bench_search(*options, context.device); });
}

}  // namespace

void print_step(const Experiment& experiment, const StepBenchmark& step) {
  const auto line = [](const char* what, const std::string& value) {
    std::cout << format("%-11s %s\n", what, value.c_str());
  };
  const RowCost cost = scaled_cost(experiment, experiment, step);
  line("parameters", significant(static_cast<double>(cost.parameters) / 1e6, 4) + " million");
  line("vocabulary",
       format("%ld source, %ld target", step.source_vocabulary, step.target_vocabulary));
  line("text", format("%s; longest sentence %ld tokens; unknown: %.2f %% of the source "
                      "tokens, %.2f %% of the target tokens",
                      counted(step.pairs, "pair").c_str(), step.longest, 100 * step.unknown_source,
                      100 * step.unknown_target));
  line("epoch", format("%.1f updates", step.updates_per_epoch));
  line("update", format("%.0f target tokens, %s GFLOP, %s s", step.tokens_per_update,
                        significant(step.flops_per_update / 1e9, 4).c_str(),
                        significant(step.seconds_per_update, 3).c_str()));
  line("speed",
       format("%s target tokens/s, %s GFLOP/s", significant(step.tokens_per_second, 4).c_str(),
              significant(step.flops_per_second / 1e9, 4).c_str()) +
           (step.peak_flops > 0 ? format(", %.0f %% of the %s of large products",
                                         100 * step.flops_per_second / step.peak_flops,
                                         significant(step.peak_flops / 1e9, 4).c_str())
                                : ""));
  line("training", format("%s, %.2g FLOPs, %s with evaluations",
                          counted(experiment.train.steps, "update").c_str(), cost.flops,
                          duration_text(cost.seconds).c_str()));
  line("memory", format("%.1f GB", cost.memory / 1e9));
}

void add_bench_command(CLI::App& app, const Context& context) {
  CLI::App* bench = app.add_subcommand("bench", "Benchmark training or search on this machine");
  bench->require_subcommand(1);
  add_step(*bench, context);
  add_search(*bench, context);
}

}  // namespace attn
