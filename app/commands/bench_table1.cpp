// Table 1 of the paper, measured: what the layer types cost by sentence length and width.

#include "app/commands/commands.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/arguments.h"
#include "app/experiment/experiment.h"
#include "app/experiment/progress_line.h"
#include "app/machine/context.h"
#include "base/error.h"
#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"
#include "kernels/precision.h"
#include "model/layers/layer.h"
#include "model/transformer/mixer.h"
#include "model/transformer/mixer_cost.h"
#include "train/batch_gradient.h"

namespace attn {
namespace {

constexpr int64_t kLargestTable1 = 1 << 20;  // tokens or dimensions
constexpr int64_t kTokens = 4096;            // positions of a batch of equal sentences

struct Table1Options {
  std::vector<int64_t> lengths = {16, 64, 256, 1024, 4096};
  std::vector<int64_t> widths = {64, 128, 256, 512, 1024};
  double seconds = 0.3;  // measurement time per point
};

// A row of Table 1 at one sentence length and width, with heads of 64 dimensions.
struct Table1Point {
  std::string layer;
  SideMixer mixer;  // the encoder's, with recurrences in one direction
  int64_t length, width;
  double forward = 0.0, backward = 0.0;  // CPU seconds of one thread for a batch
};

// The Transformer of a point: heads of 64 dimensions, or a single narrower one.
TransformerConfig table1_model(const Table1Point& point) {
  constexpr int64_t kHead = 64;
  TransformerConfig config;
  config.d_model = point.width;
  config.heads = std::max<int64_t>(1, point.width / kHead);
  config.d_k = config.d_v = point.width / config.heads;
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

// Times a point on one thread, as training does, which gives each thread whole sentences: medians
// of CPU time, so that other processes matter less.
void measure(const Table1Options& options, Precision precision, Table1Point& point) {
  torch::manual_seed(1);
  torch::nn::Module owner;
  const TransformerConfig config = table1_model(point);
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
  if (cpu_seconds() - begin < kLong * options.seconds) {
    forwards.clear(), backwards.clear();
    begin = cpu_seconds();
    do once();
    while (cpu_seconds() - begin < options.seconds);
  }
  point.forward = median(forwards);
  point.backward = median(backwards);
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

struct Table1Arguments {
  std::filesystem::path config;
  std::vector<Assignment> assignments;
  Table1Options table1;
};

Json to_json(const Table1Point& point) {
  const TransformerConfig config = table1_model(point);
  const auto path = path_length(point.mixer, point.length);
  return {{"layer", point.layer},
          {"length", point.length},
          {"width", point.width},
          {"tokens", kTokens},
          {"forward", point.forward},
          {"backward", point.backward},
          {"products", mixer_products(config, point.mixer, point.length)},
          {"sequential", sequential_operations(point.mixer, point.length)},
          {"path", path ? Json(*path) : Json()},
          {"parameters", mixer_parameters(config, point.mixer)}};
}

void bench_table1(const Table1Arguments& options, torch::Device device) {
  const Experiment experiment = load_experiment(options.config, options.assignments);
  if (!device.is_cpu()) throw ConfigError("--device: bench table1 measures on the CPU only");
  const Precision precision = effective_precision(experiment.train.precision, device);
  const Table1Options& table1 = options.table1;
  std::vector<Table1Point> points = table1_points(table1);
  std::atomic<int64_t> done = 0;
  {
    const ProgressLine progress({.what = "measuring",
                                 .unit = "points",
                                 .done = [&] { return done.load(); },
                                 .total = std::ssize(points)});
    const int threads = torch::get_num_threads();
    torch::set_num_threads(1);
    for (Table1Point& point : points) {
      measure(table1, precision, point);
      ++done;
    }
    torch::set_num_threads(threads);
  }
  Json rows = Json::array();
  for (const Table1Point& point : points) rows.push_back(to_json(point));
  std::cout << rows.dump(2) << "\n";
}

}  // namespace

void add_bench_table1_command(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<Table1Arguments>();
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
  table1->add_option("--seconds", options->table1.seconds, "seconds of each measurement")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  const auto numbers = [&](const char* name, std::vector<int64_t>& values, const char* meaning) {
    table1->add_option(name, values, meaning)
        ->delimiter(',')
        ->check(CLI::Range(int64_t{1}, kLargestTable1))
        ->capture_default_str();
  };
  numbers("--lengths", options->table1.lengths, "n: tokens per sentence");
  numbers("--widths", options->table1.widths, "d: width of the layer, with heads of 64");
  table1->callback([options, &context] { bench_table1(*options, context.device); });
}

}  // namespace attn
