// Our layers against PyTorch's own, with the same weights: tools/goldens/pytorch_layers.py wrote
// what it computes.
#include <cstring>

#include "base/safetensors.h"
#include "model/transformer/decoder.h"
#include "model/transformer/encoder.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/source_dir.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

namespace {

const std::vector<int64_t> kSourceLengths = {5, 3, 7}, kTargetLengths = {4, 6, 2};

class Golden {
 public:
  explicit Golden(std::string prefix)
      : file_(testing::kSourceDir + std::string("/tests/model/data/pytorch_layers.safetensors")),
        prefix_(std::move(prefix)) {}
  torch::Tensor operator()(const std::string& name) const {
    const TensorView& view = file_.at(prefix_ + name);
    const torch::Tensor tensor = torch::empty(view.shape, torch::kFloat32);
    std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
    return tensor;
  }

 private:
  SafetensorsFile file_;
  std::string prefix_;
};

TransformerConfig config(Norm norm, AttentionPath path) {
  TransformerConfig config = testing::small_model();
  config.dropout = 0.0;
  config.norm = norm;
  config.attention = path;
  return config;
}

void fill(torch::nn::Module& module, const Golden& golden) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : module.named_parameters()) {
    parameter.value().copy_(golden("parameter." + parameter.key()));
  }
}

void check_gradients(const torch::nn::Module& module, const Golden& golden) {
  for (const auto& parameter : module.named_parameters()) {
    INFO(parameter.key());
    CHECK(max_difference(parameter.value().grad(), golden("gradient." + parameter.key())) < 1e-5);
  }
}

}  // namespace

TEST_CASE("an encoder layer computes what PyTorch's computes, forward and backward") {
  const Norm norm = GENERATE(Norm::post, Norm::pre);
  const AttentionPath path = GENERATE(AttentionPath::kernels, AttentionPath::reference);
  CAPTURE(enum_name(norm), enum_name(path));
  const Golden golden("encoder." + std::string(enum_name(norm)) + ".");
  EncoderLayer layer(config(norm, path));
  fill(*layer, golden);
  const Segments rows(kSourceLengths);
  const torch::Tensor source = golden("source").requires_grad_();
  const torch::Tensor out = layer->forward(source, {.queries = rows, .keys = rows});
  CHECK(max_difference(out, golden("output")) < 1e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(source.grad(), golden("source_gradient")) < 1e-5);
  check_gradients(*layer, golden);
}

TEST_CASE("a decoder layer computes what PyTorch's computes, forward and backward") {
  const Norm norm = GENERATE(Norm::post, Norm::pre);
  const AttentionPath path = GENERATE(AttentionPath::kernels, AttentionPath::reference);
  CAPTURE(enum_name(norm), enum_name(path));
  const Golden golden("decoder." + std::string(enum_name(norm)) + ".");
  DecoderLayer layer(config(norm, path));
  fill(*layer, golden);
  const Segments memory(kSourceLengths), rows(kTargetLengths);
  const torch::Tensor source = golden("source").requires_grad_();
  const torch::Tensor target = golden("target").requires_grad_();
  const torch::Tensor out =
      layer->forward(target, source, {.queries = rows, .keys = rows, .causal = true},
                     {.queries = rows, .keys = memory});
  CHECK(max_difference(out, golden("output")) < 1e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(source.grad(), golden("source_gradient")) < 1e-5);
  CHECK(max_difference(target.grad(), golden("target_gradient")) < 1e-5);
  check_gradients(*layer, golden);
}
