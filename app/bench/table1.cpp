#include "app/bench/table1.h"

#include <algorithm>
#include <ctime>
#include <functional>

#include "app/bench/median.h"
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

Table1Point measure(const Table1Options& options, const LayerType& type, Precision precision,
                    int64_t length, int64_t width) {
  torch::manual_seed(1);
  torch::nn::Module owner;
  TokenMixer mixer = TokenMixer::of_encoder(owner, table1_model(type, width), 0);
  reset_layers(owner);
  const std::vector<int64_t> lengths(
      static_cast<size_t>(std::max<int64_t>(1, options.tokens / length)), length);
  const Segments rows(lengths);
  const AttentionSpec self{.queries = rows, .keys = rows};
  const torch::Tensor x_ND = torch::randn({rows.rows(), width}).requires_grad_();
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
  return {0, length, width, median(forwards), median(backwards)};
}

}  // namespace

int64_t table1_points(const Table1Options& options) {
  return static_cast<int64_t>(options.widths.size() * options.lengths.size() *
                              layer_types(options).size());
}

std::vector<Table1Point> benchmark_table1(const Table1Options& options, Precision precision,
                                          std::atomic<int64_t>& done) {
  const int threads = torch::get_num_threads();
  torch::set_num_threads(1);
  const std::vector<LayerType> types = layer_types(options);
  std::vector<Table1Point> points;
  for (const int64_t width : options.widths) {
    for (const int64_t length : options.lengths) {
      for (size_t type = 0; type < types.size(); ++type) {
        points.push_back(measure(options, types[type], precision, length, width));
        points.back().type = type;
        ++done;
      }
    }
  }
  torch::set_num_threads(threads);
  return points;
}

}  // namespace attn
