#include "app/commands/bench_command.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/bench/layers.h"
#include "app/bench/search.h"
#include "app/bench/step.h"
#include "app/bench/table1.h"
#include "app/commands/arguments.h"
#include "app/experiment/checkpoint.h"
#include "app/experiment/progress_line.h"
#include "app/machine/device.h"
#include "app/machine/peak.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "train/precision.h"

namespace attn {
namespace {

constexpr int64_t kLargest = 1 << 20;  // upper limit of numbers of tokens, lines or dimensions

struct BenchOptions {
  std::filesystem::path config;
  std::vector<std::string> assignments;
  StepBenchmarkOptions step;
  LayersBenchmarkOptions layers;
  Table1Options table1;
  std::filesystem::path text;
  std::vector<int64_t> at_once = {1, 32, 1000};
  double seconds = 10.0;
  bool json = false;
};

void print_line(const char* what, double value, const char* unit) {
  std::cout << format("%-34s %10s %s\n", what, significant(value, 4).c_str(), unit);
}

void bench_step(const BenchOptions& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config, options.assignments);
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
  print_line("parameters", static_cast<double>(result.parameters) / 1e6, "million");
  print_line("training speed", result.tokens_per_second, "target tokens/s");
  print_line("matrix products", result.flops_per_second / 1e9, "GFLOP/s");
  print_line("  of this machine's peak", 100 * result.flops_per_second / result.peak_flops, "%");
  print_line("one update", result.flops_per_update / 1e9, "GFLOP");
  print_line("one update", result.tokens_per_update, "target tokens");
  print_line("one update", result.seconds_per_update, "s");
  print_line("peak memory", result.memory / 1e9, "GB");
}

void bench_layers(const BenchOptions& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config, options.assignments);
  const std::vector<LayerTime> times = benchmark_layers(experiment, options.layers, device);
  double all = 0.0;
  for (const LayerTime& time : times) all += time.total();
  if (options.json) {
    Json json = Json::array();
    for (const LayerTime& time : times) {
      json.push_back({{"name", time.name},
                      {"count", time.count},
                      {"forward", time.forward},
                      {"backward", time.backward},
                      {"share", time.total() / all}});
    }
    std::cout << json.dump(2) << "\n";
    return;
  }
  std::cout << format("%-32s %5s %12s %13s %8s\n", "part", "count", "forward, ms", "backward, ms",
                      "share");
  for (const LayerTime& time : times) {
    std::cout << format("%-32s %5lld %12.3f %13.3f %6.1f %%\n", time.name.c_str(),
                        static_cast<long long>(time.count), 1e3 * time.forward, 1e3 * time.backward,
                        100 * time.total() / all);
  }
}

void bench_table1(const BenchOptions& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config, options.assignments);
  const auto* model = std::get_if<TransformerConfig>(&experiment.model.options);
  if (model == nullptr) {
    throw ConfigError("model.architecture: bench table1 supports the transformer only");
  }
  if (!device.is_cpu()) throw ConfigError("--device: bench table1 measures on the CPU only");
  const Precision precision = effective_precision(experiment.train.precision, device);
  std::atomic<int64_t> done = 0;
  std::vector<Table1Point> points;
  {
    const ProgressLine progress(
        {.what = "measuring",
         .unit = "points",
         .done = [&] { return done.load(); },
         .total = [&] { return ProgressTotal{.count = table1_points(options.table1)}; }});
    points = benchmark_table1(options.table1, precision, done);
  }
  if (!options.json) {
    std::cout << table1_formulas(options.table1, *model, options.layers.length)
              << table1_times(options.table1, points);
    return;
  }
  Json json = Json::array();
  const std::vector<LayerType> types = layer_types(options.table1);
  for (const Table1Point& point : points) {
    const LayerType& type = types[point.type];
    json.push_back(
        {{"layer", type.name},
         {"length", point.length},
         {"width", point.width},
         {"tokens", options.table1.tokens},
         {"forward", point.forward},
         {"backward", point.backward},
         {"products", mixer_products(table1_model(type, point.width), type.mixer, point.length)}});
  }
  std::cout << json.dump(2) << "\n";
}

void bench_search(const BenchOptions& options, torch::Device device) {
  LoadedModel loaded = load_model_to_search(options.config, device, options.assignments);
  const Experiment& experiment = loaded.experiment;
  const std::vector<std::string> lines = read_lines(options.text);
  if (lines.empty()) throw DataError(options.text.string() + ": empty file; nothing to translate");
  Translator translator(*loaded.model, loaded.tokenizers, experiment.search);
  Json json = Json::array();
  std::vector<int64_t> sizes;
  for (const int64_t at_once : options.at_once) {
    sizes.push_back(std::min(at_once, static_cast<int64_t>(lines.size())));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int64_t at_once : sizes) {
    const SearchBenchmark result = benchmark_search(translator, lines, at_once, options.seconds);
    json.push_back({{"at_once", result.at_once},
                    {"sentences", result.sentences},
                    {"seconds", result.seconds},
                    {"sentences_per_second", result.sentences_per_second()},
                    {"memory", peak_memory(device)}});
    if (options.json) continue;
    const std::string what = "search, " + std::to_string(result.at_once) + " lines at once, beam " +
                             std::to_string(experiment.search.beam);
    print_line(what.c_str(), result.sentences_per_second(), "sentences/s");
  }
  if (options.json) std::cout << json.dump(2) << "\n";
}

// Emulated bf16 would take minutes and say nothing about training runs, which use fp32 instead.
void bench_peak(const BenchOptions& options, torch::Device device) {
  const double fp32 = matrix_product_peak(Precision::fp32, device);
  const bool has_bf16 = effective_precision(Precision::bf16, device) == Precision::bf16;
  const double bf16 = has_bf16 ? matrix_product_peak(Precision::bf16, device) : 0.0;
  if (options.json) {
    Json json = {{"fp32", fp32}};
    if (has_bf16) json["bf16"] = bf16;
    std::cout << json.dump(2) << "\n";
    return;
  }
  print_line("fp32 matrix product", fp32 / 1e9, "GFLOP/s");
  if (has_bf16) {
    print_line("bf16 matrix product", bf16 / 1e9, "GFLOP/s");
  } else {
    std::cout << "bf16 matrix product                not supported by this processor\n";
  }
}

}  // namespace

void add_bench_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench", "Benchmark training, layers, search or matrix products on this machine");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  attn bench step experiments/multi30k/tiny.json\n"
      "  attn bench layers experiments/multi30k/tiny.json\n"
      "  attn bench table1 experiments/multi30k/tiny.json --widths 64,512\n"
      "  attn bench search runs/tiny corpora/multi30k/test_2016_flickr.en\n"
      "  attn bench peak");
  CLI::App* step = command->add_subcommand("step", "One training step: tokens/s, FLOP/s, memory");
  step->add_option("config", options->config, "config file")->required();
  step->add_option("--set", options->assignments, "override an option, path=value")
      ->allow_extra_args(false);
  step->add_option("--seconds", options->step.seconds, "seconds of measurement")
      ->check(number_from(0.0, 3600.0))
      ->capture_default_str();
  step->add_option("--batch-tokens", options->step.batch_tokens,
                   "largest batch to measure, in tokens; larger ones are extrapolated")
      ->check(CLI::Range(int64_t{1}, kLargest))
      ->capture_default_str();
  step->add_option("--cache", options->step.cache,
                   "directory of the encoded corpora (default: in the temporary directory)");
  step->add_option("--vocabulary", options->step.vocabulary,
                   "vocabulary size of synthetic data, used if the text is missing")
      ->check(CLI::Range(int64_t{0}, kLargest));
  step->add_option("--invented", options->step.synthetic_length,
                   "measure on synthetic sentences of this many tokens")
      ->check(CLI::Range(int64_t{1}, kLargest));
  step->add_flag("--json", options->json, "print JSON in full precision");
  step->footer("Example: attn bench step experiments/multi30k/tiny.json");
  step->callback([options, &context] { bench_step(*options, context.device); });
  CLI::App* layers =
      command->add_subcommand("layers", "Forward and backward time of each part of a Transformer");
  layers->add_option("config", options->config, "config file")->required();
  layers->add_option("--set", options->assignments, "override an option, path=value")
      ->allow_extra_args(false);
  layers->add_option("--length", options->layers.length, "tokens per sentence")
      ->check(CLI::Range(int64_t{1}, kLargest))
      ->capture_default_str();
  layers->add_option("--seconds", options->layers.seconds, "seconds of measurement per part")
      ->check(number_from(0.001, 3600.0))
      ->capture_default_str();
  layers
      ->add_option("--vocabulary", options->layers.vocabulary,
                   "vocabulary size (default: data.vocab_size)")
      ->check(CLI::Range(int64_t{0}, kLargest));
  layers->add_flag("--json", options->json, "print JSON in full precision");
  layers->footer("Example: attn bench layers experiments/multi30k/tiny.json --length 64");
  layers->callback([options, &context] { bench_layers(*options, context.device); });
  CLI::App* table1 = command->add_subcommand(
      "table1",
      "The paper's Table 1: cost of layer types by sentence length and width, one thread");
  table1->add_option("config", options->config, "config file: model and precision")->required();
  table1->add_option("--set", options->assignments, "override an option, path=value")
      ->allow_extra_args(false);
  table1
      ->add_option("--length", options->layers.length,
                   "sentence length n at which the formulas are evaluated")
      ->check(CLI::Range(int64_t{1}, kLargest))
      ->capture_default_str();
  const auto numbers = [&](const char* name, std::vector<int64_t>& values, const char* meaning) {
    table1->add_option(name, values, meaning)
        ->delimiter(',')
        ->check(CLI::Range(int64_t{1}, kLargest))
        ->capture_default_str();
  };
  numbers("--lengths", options->table1.lengths, "n: tokens per sentence");
  numbers("--widths", options->table1.widths, "d: width of the layer, with heads of 64");
  numbers("--windows", options->table1.windows, "r of restricted self-attention");
  numbers("--kernels", options->table1.kernels, "k of convolutions, odd");
  table1->add_option("--tokens", options->table1.tokens, "positions per batch")
      ->check(CLI::Range(int64_t{1}, kLargest))
      ->capture_default_str();
  table1->add_option("--seconds", options->table1.seconds, "seconds of measurement per point")
      ->check(number_from(0.001, 3600.0))
      ->capture_default_str();
  table1->add_flag("--json", options->json, "print the points as JSON in full precision");
  table1->footer("Example: attn bench table1 experiments/multi30k/tiny.json --widths 64,512");
  table1->callback([options, &context] { bench_table1(*options, context.device); });
  CLI::App* search =
      command->add_subcommand("search", "Beam search of a trained translator: sentences/s");
  search->add_option("run", options->config, kModelArgument)->required();
  search->add_option("text", options->text, "text to translate")->required();
  search->add_option("--set", options->assignments, "override an option, such as search.beam=4")
      ->allow_extra_args(false);
  search->add_option("--at-once", options->at_once, "lines per call (default: 1,32,1000)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, kLargest));
  search->add_option("--seconds", options->seconds, "seconds of measurement per setting")
      ->check(number_from(0.001, 3600.0))
      ->capture_default_str();
  search->add_flag("--json", options->json, "print JSON in full precision");
  search->footer("Example: attn bench search runs/tiny corpora/multi30k/test_2016_flickr.en");
  search->callback([options, &context] { bench_search(*options, context.device); });
  CLI::App* peak =
      command->add_subcommand("peak", "Peak throughput of matrix products in fp32 and bf16");
  peak->add_flag("--json", options->json, "print JSON");
  peak->footer("Example: attn bench peak");
  peak->callback([options, &context] { bench_peak(*options, context.device); });
}

}  // namespace attn
