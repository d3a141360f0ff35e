#include "app/bench/table1.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"
#include "model/layers/layer.h"
#include "model/transformer/mixer.h"

namespace attn {
namespace {

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

void measure(const Table1Options& options, Precision precision, Table1Point& point) {
  torch::manual_seed(1);
  torch::nn::Module owner;
  TokenMixer mixer = TokenMixer::of_encoder(owner, table1_model(point), 0);
  reset_layers(owner);
  const std::vector<int64_t> lengths(
      static_cast<size_t>(std::max<int64_t>(1, options.tokens / point.length)), point.length);
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

std::vector<std::pair<std::string, MixerConfig>> layer_types(const Table1Options& options) {
  std::vector<std::pair<std::string, MixerConfig>> types = {
      {"self-attention", {.kind = Mixer::attention}}};
  for (const int64_t r : options.windows) {
    types.emplace_back("restricted self-attention, r = " + std::to_string(r),
                       MixerConfig{.kind = Mixer::restricted_attention, .window = r});
  }
  for (const int64_t k : options.kernels) {
    types.emplace_back("convolution, k = " + std::to_string(k),
                       MixerConfig{.kind = Mixer::convolution, .kernel = k});
  }
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    types.emplace_back("recurrence, " + std::string(enum_name(cell)),
                       MixerConfig{.kind = Mixer::recurrence, .cell = cell});
  }
  return types;
}

}  // namespace

std::vector<Table1Point> table1_points(const Table1Options& options) {
  std::vector<Table1Point> points;
  for (const int64_t width : options.widths) {
    for (const int64_t length : options.lengths) {
      for (const auto& [layer, mixer] : layer_types(options)) {
        points.push_back({.layer = layer,
                          .mixer = {.config = mixer, .causal = false, .bidirectional = false},
                          .length = length,
                          .width = width});
      }
    }
  }
  return points;
}

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

void measure_table1(const Table1Options& options, Precision precision,
                    std::vector<Table1Point>& points, std::atomic<int64_t>& done) {
  const int threads = torch::get_num_threads();
  torch::set_num_threads(1);
  for (Table1Point& point : points) {
    measure(options, precision, point);
    ++done;
  }
  torch::set_num_threads(threads);
}

}  // namespace attn
