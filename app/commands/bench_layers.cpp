#include "app/commands/bench_layers.h"

#include <iostream>
#include <memory>
#include <vector>

#include "app/bench/layers.h"
#include "app/commands/bench_options.h"
#include "app/experiment/experiment.h"
#include "base/format.h"

namespace attn {
namespace {

struct BenchLayersArguments {
  BenchConfig config;
  LayersBenchmarkOptions layers;
  bool json = false;
};

void bench_layers(const BenchLayersArguments& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config.file, options.config.assignments);
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

}  // namespace

void add_bench_layers_command(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<BenchLayersArguments>();
  CLI::App* layers =
      bench.add_subcommand("layers", "Forward and backward time of each part of a Transformer");
  layers->footer("Example: attn bench layers experiments/multi30k/tiny.json --length 64");
  add_bench_config(layers, options->config);
  layers->add_option("--length", options->layers.length, "tokens per sentence")
      ->check(CLI::Range(int64_t{1}, kLargestBenchmark))
      ->capture_default_str();
  add_bench_seconds(layers, options->layers.seconds, " per part");
  layers
      ->add_option("--vocabulary", options->layers.vocabulary,
                   "vocabulary size (default: data.vocab_size)")
      ->check(CLI::Range(int64_t{0}, kLargestBenchmark));
  layers->add_flag("--json", options->json, "print JSON in full precision");
  layers->callback([options, &context] { bench_layers(*options, context.device); });
}

}  // namespace attn
