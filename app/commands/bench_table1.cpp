#include "app/commands/bench_table1.h"

#include <atomic>
#include <iostream>
#include <memory>
#include <vector>

#include "app/bench/table1.h"
#include "app/commands/bench_options.h"
#include "app/experiment/experiment.h"
#include "app/experiment/progress_line.h"
#include "base/error.h"
#include "train/precision.h"

namespace attn {
namespace {

struct BenchTable1Arguments {
  BenchConfig config;
  Table1Options table1;
  int64_t length = 24;  // of the formulas
  bool json = false;
};

void bench_table1(const BenchTable1Arguments& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config.file, options.config.assignments);
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
    std::cout << table1_formulas(options.table1, *model, options.length)
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

}  // namespace

void add_bench_table1_command(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<BenchTable1Arguments>();
  CLI::App* table1 = bench.add_subcommand(
      "table1",
      "The paper's Table 1: cost of layer types by sentence length and width, one thread");
  table1->footer("Example: attn bench table1 experiments/multi30k/tiny.json --widths 64,512");
  add_bench_config(table1, options->config, "config file: model and precision");
  table1
      ->add_option("--length", options->length,
                   "sentence length n at which the formulas are evaluated")
      ->check(CLI::Range(int64_t{1}, kLargestBenchmark))
      ->capture_default_str();
  const auto numbers = [&](const char* name, std::vector<int64_t>& values, const char* meaning) {
    table1->add_option(name, values, meaning)
        ->delimiter(',')
        ->check(CLI::Range(int64_t{1}, kLargestBenchmark))
        ->capture_default_str();
  };
  numbers("--lengths", options->table1.lengths, "n: tokens per sentence");
  numbers("--widths", options->table1.widths, "d: width of the layer, with heads of 64");
  numbers("--windows", options->table1.windows, "r of restricted self-attention");
  numbers("--kernels", options->table1.kernels, "k of convolutions, odd");
  table1->get_option("--kernels")->check([](const std::string& text) {
    return text.find_last_of("13579") + 1 == text.size() ? "" : text + ": must be odd";
  });
  table1->add_option("--tokens", options->table1.tokens, "positions per batch")
      ->check(CLI::Range(int64_t{1}, kLargestBenchmark))
      ->capture_default_str();
  add_bench_seconds(table1, options->table1.seconds, " per point");
  table1->add_flag("--json", options->json, "print the points as JSON in full precision");
  table1->callback([options, &context] { bench_table1(*options, context.device); });
}

}  // namespace attn
