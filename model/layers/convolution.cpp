// Fast path shifted_rows: shifted_rows da3773ae
#include "model/layers/convolution.h"

#include <algorithm>
#include <cstring>

#include "kernels/compute_scope.h"
#include "kernels/ops/dropout.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Sentences and taps, copied for backward.
struct Taps : torch::CustomClassHolder {
  std::vector<int64_t> offsets;  // offsets of the sentences
  ConvolutionShape shape;

  // Calls visit(first row, rows, k) for the rows whose tap k lies in their sentence.
  template <class Visit>
  void inside(Visit&& visit) const {
    for (size_t b = 0; b + 1 < offsets.size(); ++b) {
      for (int64_t k = 0; k < shape.kernel; ++k) {
        const int64_t shift = shape.shift(k);
        const int64_t first = std::max(offsets[b], offsets[b] - shift);
        const int64_t end = std::min(offsets[b + 1], offsets[b + 1] - shift);
        if (first < end) visit(first, end - first, k);
      }
    }
  }
};

class Shift : public torch::autograd::Function<Shift> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_ND,
                               c10::intrusive_ptr<Taps> taps) {
    const torch::Tensor in = x_ND.contiguous();
    const int64_t count = in.size(0), width = in.size(1), stride = taps->shape.kernel * width;
    const torch::Tensor out = torch::zeros({count, stride}, in.options());
    const float* from = in.const_data_ptr<float>();
    float* to = out.data_ptr<float>();
    const size_t bytes = static_cast<size_t>(width) * sizeof(float);
    taps->inside([&](int64_t first, int64_t rows, int64_t k) {
      const float* source = from + (first + taps->shape.shift(k)) * width;
      for (int64_t i = 0; i < rows; ++i) {
        std::memcpy(to + (first + i) * stride + k * width, source + i * width, bytes);
      }
    });
    context->saved_data["taps"] = c10::IValue::make_capsule(std::move(taps));
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto holder = context->saved_data["taps"].toCapsule();
    const auto& taps = static_cast<const Taps&>(*holder);
    const torch::Tensor dy = gradients[0].contiguous();
    const int64_t stride = dy.size(1), width = stride / taps.shape.kernel;
    const torch::Tensor dx = torch::zeros({dy.size(0), width}, dy.options());
    const float* from = dy.const_data_ptr<float>();
    float* to = dx.data_ptr<float>();
    taps.inside([&](int64_t first, int64_t rows, int64_t k) {
      for (int64_t i = first; i < first + rows; ++i) {
        const float* source = from + i * stride + k * width;
        float* sum = to + (i + taps.shape.shift(k)) * width;
        for (int64_t c = 0; c < width; ++c) sum[c] += source[c];
      }
    });
    return {dx, torch::Tensor()};
  }
};

}  // namespace

torch::Tensor shifted_rows(const torch::Tensor& x_ND, const Segments& rows,
                           const ConvolutionShape& shape) {
  TORCH_CHECK(x_ND.dim() == 2 && x_ND.size(0) == rows.rows(), "shifted_rows: got ", x_ND.sizes(),
              ", expected ", rows.rows(), " rows");
  TORCH_CHECK(shape.causal || shape.kernel % 2 == 1, "shifted_rows: kernel ", shape.kernel,
              "; one that is not causal must be odd");
  if (shape.kernel == 1) return x_ND;
  if (runs_on_cpu_kernels(x_ND) && ComputeScope::takes(FastPath::shifted_rows)) {
    auto taps = c10::make_intrusive<Taps>();
    taps->offsets.assign(rows.offsets().begin(), rows.offsets().end());
    taps->shape = shape;
    return Shift::apply(x_ND, taps);
  }
  // Formula shifted_rows: fast paths Shift and StepInputs::window of this file.
  const torch::TensorOptions options = rows.positions().options();
  const torch::Tensor shifts_T =
      torch::arange(shape.kernel, options) * shape.dilation + shape.shift(0);
  const torch::Tensor at_NT = rows.positions().unsqueeze(1) + shifts_T;
  const torch::Tensor inside_NT = (at_NT >= 0) & (at_NT < rows.lengths_of_rows().unsqueeze(1));
  // Outside the sentence, a tap reads its own row, which is then replaced by zeros. A common row of
  // zeros would be slow on a GPU: backward would add the gradients of all these taps to it one
  // after the other.
  const torch::Tensor own_N = torch::arange(x_ND.size(0), options);
  const torch::Tensor read_NT =
      torch::where(inside_NT, own_N.unsqueeze(1) + shifts_T, own_N.unsqueeze(1));
  return x_ND.index_select(0, read_NT.flatten())
      .view({x_ND.size(0), shape.kernel, x_ND.size(1)})
      .masked_fill(~inside_NT.unsqueeze(2), 0.0)
      .flatten(1);
  // End of formula.
}

void StepAncestors::advance(std::span<const int64_t> parents, torch::Device device) {
  ++steps_;
  if (steps_ == 1 || span_ == 0) return;
  const torch::Tensor parents_R = int64_tensor(parents, device);
  for (torch::Tensor& rows : rows_) rows = rows.index_select(0, parents_R);
  rows_.insert(rows_.begin(), parents_R);
  if (static_cast<int64_t>(rows_.size()) > span_) rows_.pop_back();
}

torch::Tensor StepInputs::window(const torch::Tensor& x_RD, const StepAncestors& ancestors,
                                 const ConvolutionShape& shape) {
  TORCH_CHECK(shape.causal, "a convolution that is not causal cannot decode step by step");
  std::vector<torch::Tensor> taps;
  for (int64_t k = 0; k + 1 < shape.kernel; ++k) {
    const int64_t back = -shape.shift(k);
    taps.push_back(back < ancestors.steps()
                       ? past_[static_cast<size_t>(back - 1)].index_select(0, ancestors.rows(back))
                       : torch::zeros_like(x_RD));
  }
  taps.push_back(x_RD);
  past_.insert(past_.begin(), x_RD);
  if (static_cast<int64_t>(past_.size()) > shape.past()) past_.pop_back();
  return torch::cat(taps, 1);
}

}  // namespace attn
