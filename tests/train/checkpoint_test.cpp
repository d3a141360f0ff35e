#include "train/checkpoint.h"

#include <torch/nn/modules/container/sequential.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::contains;

namespace {

torch::nn::Sequential two_layers(int64_t width = 4) {
  return torch::nn::Sequential(torch::nn::Linear(3, width), torch::nn::Linear(width, 2));
}

}  // namespace

TEST_CASE("weights come back bit for bit") {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  auto a = two_layers(), b = two_layers();
  save_weights(path, *a);
  load_weights(path, *b);
  for (const auto& parameter : a->named_parameters()) {
    CHECK(torch::equal(parameter.value(), b->named_parameters()[parameter.key()]));
  }
}

TEST_CASE("weights of another model are refused with the tensor's name and both shapes") {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  save_weights(path, *two_layers());
  auto wider = two_layers(5);
  CHECK_THROWS_WITH(load_weights(path, *wider), contains("[4") && contains("[5"));
  torch::nn::Sequential fewer(torch::nn::Linear(3, 4));
  CHECK_THROWS_WITH(load_weights(path, *fewer), contains("no parameter 1."));
  auto more = two_layers();
  more->push_back(torch::nn::Linear(2, 2));
  CHECK_THROWS_AS(load_weights(path, *more), DataError);
}

TEST_CASE("a truncated or missing weights file is one clear error") {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  auto model = two_layers();
  CHECK_THROWS_WITH(load_weights(path, *model), contains("model.safetensors"));
  save_weights(path, *model);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 10);
  CHECK_THROWS_WITH(load_weights(path, *model), contains("model.safetensors"));
}

TEST_CASE("the average of checkpoints is the mean of each weight") {
  const testing::TemporaryDirectory directory;
  std::vector<std::filesystem::path> paths;
  std::vector<torch::Tensor> first_weights;
  for (int i = 0; i < 3; ++i) {
    auto model = two_layers();
    paths.push_back(directory.path() / (std::to_string(i) + ".safetensors"));
    save_weights(paths.back(), *model);
    first_weights.push_back(model->named_parameters()["0.weight"].detach().clone());
  }
  const auto out = directory.path() / "mean.safetensors";
  average_weights(paths, out);
  auto mean = two_layers();
  load_weights(out, *mean);
  CHECK(testing::max_difference(mean->named_parameters()["0.weight"],
                                torch::stack(first_weights).mean(0)) < 1e-7);
  save_weights(paths[1], *two_layers(5));
  CHECK_THROWS_AS(average_weights(paths, out), DataError);
  CHECK_THROWS_AS(average_weights({}, out), DataError);
}
