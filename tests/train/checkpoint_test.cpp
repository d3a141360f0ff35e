#include "train/checkpoint.h"

#include <torch/nn/modules/container/sequential.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::contains;

namespace {

torch::nn::Sequential two_layers(int64_t width = 4) {
  return torch::nn::Sequential(torch::nn::Linear(3, width), torch::nn::Linear(width, 2));
}

}  // namespace

TEST_CASE("a changed bit of a checkpoint is an error, with finite values, too") {
  const testing::TemporaryDirectory directory;
  const auto weights = directory / "model", state = directory / "state";
  testing::CopyingTask task;
  task.trainer.step();
  task.save(directory.path());
  const auto flip_last_mantissa_bit = [](const std::filesystem::path& path) {
    std::string bytes = read_file(path);
    bytes[bytes.size() - 4] = static_cast<char>(bytes[bytes.size() - 4] ^ 1);
    write_file_atomically(path, bytes);
  };
  task.load(directory.path());
  flip_last_mantissa_bit(state);
  CHECK_THROWS_WITH(task.load(directory.path()), contains("state: ") && contains("xxh64"));
  flip_last_mantissa_bit(weights);
  CHECK_THROWS_WITH(task.load(directory.path()), contains("model: ") && contains("xxh64"));
  CHECK_THROWS_WITH(average_weights({weights}, directory / "mean"), contains("xxh64"));
}

TEST_CASE("an invalid evaluation is an error that names the file, and leaves the state as it was") {
  const testing::TemporaryDirectory directory;
  TrainState state{.best = 5.0, .without_better = -1};
  save_evaluation(directory / "evaluation", state);
  state.best = 7.0;
  CHECK_THROWS_WITH(load_evaluation(directory / "evaluation", state),
                    contains("evaluation: ") && contains("without_better"));
  CHECK(state.best == 7.0);
}

TEST_CASE("weights of another model are rejected with the tensor's name and both shapes") {
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

TEST_CASE("a model that differs takes the weights that fit and names the others") {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  auto from = two_layers();
  save_weights(path, *from);
  const auto loaded = [&](torch::nn::Sequential into, const InitialWeights& initial) {
    const auto before = into->named_parameters()["1.weight"].detach().clone();
    const WeightsLoaded result = load_fitting_weights(path, *into, initial);
    return std::tuple(result, into, before);
  };
  {
    const auto [result, same, before] = loaded(two_layers(), {});
    CHECK(result.loaded == 4);
    CHECK(result.notes.empty());
    CHECK(torch::equal(same->named_parameters()["1.weight"], from->named_parameters()["1.weight"]));
  }
  {  // a wider layer: its own and the next one's weights differ in shape
    const auto [result, wider, before] = loaded(two_layers(5), {.extended = {"0.weight"}});
    CHECK(result.loaded == 2);  // the first rows of 0.weight, and 1.bias
    REQUIRE(result.notes.size() == 3);
    CHECK(result.notes[0] == "0.weight: the first 4 of 5 rows loaded, the others initialized");
    CHECK_THAT(result.notes[1], contains("0.bias: [4] in the checkpoint, [5] here"));
    CHECK(torch::equal(wider->named_parameters()["0.weight"].narrow(0, 0, 4),
                       from->named_parameters()["0.weight"]));
    CHECK(torch::equal(wider->named_parameters()["1.weight"], before));
  }
  {
    const auto [result, other, before] = loaded(two_layers(), {.excluded = {"1.weight"}});
    CHECK(result.loaded == 3);
    CHECK(result.notes ==
          std::vector<std::string>{"1.weight: belongs to another vocabulary; initialized"});
    CHECK(torch::equal(other->named_parameters()["1.weight"], before));
  }
  auto more = two_layers();
  more->push_back(torch::nn::Linear(2, 2));
  CHECK(load_fitting_weights(path, *more, {}).notes.size() == 2);
  torch::nn::Sequential fewer(torch::nn::Linear(3, 4));
  CHECK_THAT(load_fitting_weights(path, *fewer, {}).notes.at(0), contains("not in this model"));
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
