// Linear layers packed for search against torch::linear, in each type of weight.
#include "kernels/ops/packed_linear.h"

#include "kernels/cpu/int8.h"
#include "kernels/ops/linear.h"
#include "tests/support/catch.h"
#include "tests/support/hardware.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;
using testing::rounded;

namespace {

// The levels of a matrix's rows times their scales.
torch::Tensor dequantized(const torch::Tensor& matrix) {
  const torch::Tensor largest = matrix.abs().amax(1, /*keepdim=*/true);
  return torch::round(matrix * (torch::full_like(largest, 127.0f) / largest)) * (largest / 127.0f);
}

}  // namespace

TEST_CASE("a packed linear layer is torch::linear to its type's rounding") {
  const WeightType type = GENERATE(WeightType::fp32, WeightType::bf16, WeightType::int8);
  if (type == WeightType::bf16 && !testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  // The last but one uses several threads, the one before also blocks of inner tiles. Rows of the
  // last are too long for int8: its activations stay in float32.
  const auto [rows, inputs, outputs] =
      GENERATE(std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
               std::tuple<int64_t, int64_t, int64_t>{0, 8, 8},
               std::tuple<int64_t, int64_t, int64_t>{5, 33, 257},
               std::tuple<int64_t, int64_t, int64_t>{17, 128, 3000},
               std::tuple<int64_t, int64_t, int64_t>{70, 1100, 530},
               std::tuple<int64_t, int64_t, int64_t>{2, cpu::kInt8Inputs + 1, 3});
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

  const bool bf16 = type == WeightType::bf16, int8 = type == WeightType::int8;
  const bool int8_rows = int8 && cpu::int8_kernels() != nullptr && inputs <= cpu::kInt8Inputs;
  torch::Tensor plain = torch::linear(bf16        ? rounded(x)
                                      : int8_rows ? dequantized(x)
                                                  : x,
                                      bf16   ? rounded(w)
                                      : int8 ? dequantized(w)
                                             : w,
                                      b);
  if (relu) plain = torch::relu(plain);
  const double tolerance =
      (inputs < 10'000 ? 1e-5 : 3e-5) * std::max(1.0, plain.abs().max().item<double>());
  CHECK(max_difference(y.slice(1, 0, outputs), plain) < tolerance);
  CHECK(y.slice(1, outputs).eq(7.0f).all().item<bool>());  // nothing beyond a row's end
}
