// Linear layers packed for search against torch::linear, in each type of weight.
#include "kernels/ops/packed_linear.h"

#include "kernels/ops/linear.h"
#include "tests/support/catch.h"
#include "tests/support/hardware.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;
using testing::rounded;

TEST_CASE("a packed linear layer is torch::linear to its type's rounding") {
  const WeightType type = GENERATE(WeightType::fp32, WeightType::bf16, WeightType::int8);
  if (type == WeightType::bf16 && !testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  // The last two use several threads, the very last one also blocks of inner tiles.
  const auto [rows, inputs, outputs] =
      GENERATE(std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
               std::tuple<int64_t, int64_t, int64_t>{0, 8, 8},
               std::tuple<int64_t, int64_t, int64_t>{5, 33, 257},
               std::tuple<int64_t, int64_t, int64_t>{17, 128, 3000},
               std::tuple<int64_t, int64_t, int64_t>{70, 1100, 530});
  const bool has_bias = GENERATE(true, false), relu = GENERATE(true, false);
  const std::string name(enum_name(type));
  CAPTURE(name, rows, inputs, outputs, has_bias, relu);
  torch::manual_seed(4);
  const torch::Tensor wide_x = torch::randn({rows, inputs + 3}), x = wide_x.slice(1, 0, inputs);
  const torch::Tensor w = torch::randn({outputs, inputs});
  const torch::Tensor b = has_bias ? torch::randn({outputs}) : torch::Tensor();
  const PackedLinear layer(w, b, type);
  CHECK(layer.inputs() == inputs);
  CHECK(layer.outputs() == outputs);
  const torch::Tensor y = torch::full({rows, outputs + 2}, 7.0f);
  layer.apply(wide_x.const_data_ptr<float>(), inputs + 3, rows, y.mutable_data_ptr<float>(),
              outputs + 2, relu);
  if (rows == 0) return;

  const bool bf16 = type == WeightType::bf16;
  torch::Tensor plain = torch::linear(bf16 ? rounded(x) : x, bf16 ? rounded(w) : w, b);
  if (relu) plain = torch::relu(plain);
  double tolerance = 1e-5 * std::max(1.0, plain.abs().max().item<double>());
  if (type == WeightType::int8) {
    // Half a step of each weight, and of each x where that is quantized, too.
    const double largest_w = w.abs().max().item<double>(), largest_x = x.abs().max().item<double>();
    tolerance += 1.01 / 254 *
                 (largest_w * x.abs().sum(1).max().item<double>() +
                  largest_x * w.abs().sum(1).max().item<double>());
  }
  CHECK(max_difference(y.slice(1, 0, outputs), plain) < tolerance);
  CHECK(y.slice(1, outputs).eq(7.0f).all().item<bool>());  // nothing beyond a row's end
}
