#include "app/commands/commands.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/bench_step.h"
#include "app/experiment/checkpoint.h"
#include "app/experiment/experiment.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/run_directory.h"
#include "app/experiment/run_result.h"
#include "app/machine/device.h"
#include "app/sweep/costs.h"
#include "base/error.h"
#include "base/format.h"
#include "base/json_config.h"
#include "eval/tasks/translator.h"
#include "kernels/compute_scope.h"
#include "kernels/precision.h"
#include "model/layers/layer.h"
#include "model/transformer/mixer.h"
#include "model/transformer/mixer_cost.h"
#include "train/batch_gradient.h"

namespace attn {
namespace {

constexpr int64_t kLargest = 1 << 20;  // tokens, lines or dimensions

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
  command->add_option("--seconds", seconds, "seconds of each measurement")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  command->add_flag("--json", measured.json, "print JSON in full precision");
}

void print(const std::string& what, double value, const char* unit) {
  std::cout << format("%-34s %10s %s\n", what.c_str(), significant(value, 4).c_str(), unit);
}

// --- step: training

struct StepArguments : Measured {
  StepBenchmarkOptions step;
};

void bench_step(const StepArguments& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.file, options.assignments);
  StepBenchmark result = benchmark_step(experiment, options.step, device);
  const Precision precision = effective_precision(experiment.train.precision, device);
  result.peak_flops = matrix_product_peak(precision, device);
  if (options.json) {
    std::cout << write_config(result).dump(2) << "\n";
    return;
  }
  print("parameters", static_cast<double>(result.parameters) / 1e6, "million");
  print("training speed", result.tokens_per_second, "target tokens/s");
  print("matrix products", result.flops_per_second / 1e9, "GFLOP/s");
  print("  of this machine's peak", 100 * result.flops_per_second / result.peak_flops, "%");
  print("one update", result.flops_per_update / 1e9, "GFLOP");
  print("one update", result.tokens_per_update, "target tokens");
  print("one update", result.seconds_per_update, "s");
  print("peak memory", result.memory / 1e9, "GB");
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
  step->callback([options, &context] { bench_step(*options, context.device); });
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
  LoadedModel loaded = load_model_to_search(options.file, device, options.assignments);
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
      print("search, " + std::to_string(at_once) + " lines at once, beam " +
                std::to_string(loaded.experiment.search.beam),
            result["sentences_per_second"].get<double>(), "sentences/s");
    }
    json.push_back(std::move(result));
  }
  if (options.json) std::cout << json.dump(2) << "\n";
}

void add_search(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App* search =
      bench.add_subcommand("search", "Beam search of a trained translator: sentences/s");
  search->footer("Example: attn bench search runs/tiny corpora/multi30k/test_2016_flickr.en");
  add_measured(search, *options, options->seconds, "run", kModelArgument);
  search->add_option("text", options->text, "text to translate")->required();
  search->add_option("--at-once", options->at_once, "lines per call (default: 1,32,1000)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, kLargest));
  search->callback([options, &context] { bench_search(*options, context.device); });
}

// --- peak: matrix products

// Emulated bf16 would take minutes and say nothing about training runs, which use fp32 instead.
void bench_peak(bool as_json, torch::Device device) {
  Json json = {{"fp32", matrix_product_peak(Precision::fp32, device)}};
  const bool has_bf16 = effective_precision(Precision::bf16, device) == Precision::bf16;
  if (has_bf16) json["bf16"] = matrix_product_peak(Precision::bf16, device);
  if (as_json) {
    std::cout << json.dump(2) << "\n";
    return;
  }
  for (const auto& [precision, flops] : json.items()) {
    print(precision + " matrix product", flops.get<double>() / 1e9, "GFLOP/s");
  }
  if (!has_bf16) {
    std::cout << "bf16 matrix product                not supported by this processor\n";
  }
}

void add_peak(CLI::App& bench, const Context& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* peak =
      bench.add_subcommand("peak", "Peak throughput of matrix products in fp32 and bf16");
  peak->footer("Example: attn bench peak");
  peak->add_flag("--json", *json, "print JSON");
  peak->callback([json, &context] { bench_peak(*json, context.device); });
}

// --- table1: layer types by sentence length and width

constexpr int64_t kTokens = 4096;  // positions of a batch of equal sentences

struct Table1Options {
  std::filesystem::path config;
  std::vector<Assignment> assignments;
  std::vector<int64_t> lengths = {16, 64, 256, 1024, 4096};
  std::vector<int64_t> widths = {64, 128, 256, 512, 1024};
  double seconds = 0.3;  // measurement time per point
};

// A row of Table 1 at one sentence length and width, with heads of 64 dimensions.
struct Table1Point {
  std::string layer;
  SideMixer mixer;  // the encoder's, with recurrences in one direction
  int64_t length, width;
};

// The Transformer of a point: heads of 64 dimensions, or a single narrower one.
TransformerConfig table1_model(const Table1Point& point) {
  constexpr int64_t kHead = 64;
  TransformerConfig config;
  config.d_model = point.width;
  config.heads = std::max<int64_t>(1, point.width / kHead);
  static_cast<MixerConfig&>(config.encoder_mixer) = point.mixer.config;
  config.encoder_mixer.bidirectional = point.mixer.bidirectional;
  config.validate();
  return config;
}

// A measurement that takes this many times the requested time is not repeated.
constexpr double kLong = 5.0;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double median(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<int64_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// CPU seconds of a point's forward and backward pass on one thread, as training computes them,
// which gives each thread whole sentences: medians, so that other processes matter less.
std::pair<double, double> measure(const Table1Point& point, const TransformerConfig& config,
                                  Precision precision, double seconds) {
  torch::manual_seed(1);
  torch::nn::Module owner;
  TokenMixer mixer(owner, config, encoder_mixer(config), 0);
  reset_layers(owner);
  const std::vector<int64_t> lengths(
      static_cast<size_t>(std::max<int64_t>(1, kTokens / point.length)), point.length);
  const Segments rows(lengths);
  const AttentionSpec self{.queries = rows, .keys = rows};
  const torch::Tensor x_ND = torch::randn({rows.rows(), point.width}).requires_grad_();
  const torch::Tensor upstream_ND = torch::randn_like(x_ND);
  PackedWeights weights(precision);
  std::vector<double> forwards, backwards;
  const auto once = [&] {
    const ComputeScope scope({.precision = precision, .packed_weights = &weights});
    const double start = cpu_seconds();
    const torch::Tensor out_ND = mixer.mix(x_ND, self);
    const double middle = cpu_seconds();
    out_ND.backward(upstream_ND);
    forwards.push_back(middle - start);
    backwards.push_back(cpu_seconds() - middle);
  };
  double begin = cpu_seconds();
  once();  // fills caches, which matters for short measurements only
  if (cpu_seconds() - begin < kLong * seconds) {
    forwards.clear(), backwards.clear();
    begin = cpu_seconds();
    do once();
    while (cpu_seconds() - begin < seconds);
  }
  return {median(forwards), median(backwards)};
}

std::vector<std::pair<std::string, MixerConfig>> layer_types() {
  std::vector<std::pair<std::string, MixerConfig>> types = {
      {"self-attention", {.kind = Mixer::attention}}};
  for (const int64_t r : {16, 64, 256}) {
    types.emplace_back("restricted self-attention, r = " + std::to_string(r),
                       MixerConfig{.kind = Mixer::restricted_attention, .window = r});
  }
  types.emplace_back("convolution, k = 3", MixerConfig{.kind = Mixer::convolution, .kernel = 3});
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    types.emplace_back("recurrence, " + std::string(enum_name(cell)),
                       MixerConfig{.kind = Mixer::recurrence, .cell = cell});
  }
  return types;
}

std::vector<Table1Point> table1_points(const Table1Options& options) {
  std::vector<Table1Point> points;
  for (const int64_t width : options.widths) {
    for (const int64_t length : options.lengths) {
      for (const auto& [layer, mixer] : layer_types()) {
        points.push_back({.layer = layer,
                          .mixer = {.config = mixer, .causal = false, .bidirectional = false},
                          .length = length,
                          .width = width});
      }
    }
  }
  return points;
}

Json measured(const Table1Point& point, Precision precision, double seconds) {
  const TransformerConfig config = table1_model(point);
  const auto [forward, backward] = measure(point, config, precision, seconds);
  const auto path = path_length(point.mixer, point.length);
  return {{"layer", point.layer},
          {"length", point.length},
          {"width", point.width},
          {"tokens", kTokens},
          {"forward", forward},
          {"backward", backward},
          {"products", mixer_products(config, point.mixer, point.length)},
          {"sequential", sequential_operations(point.mixer, point.length)},
          {"path", path ? Json(*path) : Json()},
          {"parameters", mixer_parameters(config, point.mixer)}};
}

void bench_table1(const Table1Options& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config, options.assignments);
  if (!device.is_cpu()) throw ConfigError("--device: bench table1 measures on the CPU only");
  const Precision precision = effective_precision(experiment.train.precision, device);
  const std::vector<Table1Point> points = table1_points(options);
  Json rows = Json::array();
  std::atomic<int64_t> done = 0;
  {
    const ProgressLine progress({.what = "measuring",
                                 .unit = "points",
                                 .done = [&] { return done.load(); },
                                 .total = std::ssize(points)});
    torch::set_num_threads(1);
    for (const Table1Point& point : points) {
      rows.push_back(measured(point, precision, options.seconds));
      ++done;
    }
  }
  std::cout << rows.dump(2) << "\n";
}

void add_table1(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<Table1Options>();
  CLI::App* table1 = bench.add_subcommand(
      "table1",
      "The paper's Table 1: cost of layer types by sentence length and width, one thread");
  table1->footer(
      "Prints JSON, which tools/report/plots.py draws. forward, backward: CPU seconds of one "
      "thread for\n4096 positions; products: multiply-adds of a sentence, projections "
      "included.\n"
      "Example: attn bench table1 experiments/multi30k/tiny.json --widths 64,512");
  table1->add_option("config", options->config, "config file: precision")->required();
  add_set(table1, options->assignments);
  table1->add_option("--seconds", options->seconds, "seconds of each measurement")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  const auto numbers = [&](const char* name, std::vector<int64_t>& values, const char* meaning) {
    table1->add_option(name, values, meaning)
        ->delimiter(',')
        ->check(CLI::Range(int64_t{1}, kLargest))
        ->capture_default_str();
  };
  numbers("--lengths", options->lengths, "n: tokens per sentence");
  numbers("--widths", options->widths, "d: width of the layer, with heads of 64");
  table1->callback([options, &context] { bench_table1(*options, context.device); });
}

}  // namespace

void add_bench_command(CLI::App& app, const Context& context) {
  CLI::App* bench = app.add_subcommand(
      "bench", "Benchmark training, layer types, search or matrix products on this machine");
  bench->require_subcommand(1);
  add_step(*bench, context);
  add_table1(*bench, context);
  add_search(*bench, context);
  add_peak(*bench, context);
}

}  // namespace attn
