#include "train/parallel/gradient_sum.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/scopes.h"
#include "tests/support/tensors.h"
#include "tests/support/thread_communicator.h"
#include "tests/train/parallel/trained.h"

using namespace attn;
using testing::check_same;
using testing::run_as_processes;
using testing::train;
using testing::Trained;

namespace {

constexpr int64_t kFloats = 3 * kNormBlock + 160;

std::vector<torch::Tensor> random_gradients(int64_t count) {
  torch::manual_seed(4);
  std::vector<torch::Tensor> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(torch::randn({kFloats}));
  return all;
}

// What every process has after reduce() and gather().
std::vector<torch::Tensor> summed(const std::vector<torch::Tensor>& gradients) {
  std::vector<torch::Tensor> results(gradients.size());
  run_as_processes(static_cast<int64_t>(gradients.size()), [&](Communicator& world) {
    const torch::Tensor own = gradients[world.rank()].clone();
    GradientSum sum(world, kFloats);
    sum.reduce(own);
    sum.gather(own);
    results[world.rank()] = own;
  });
  return results;
}

}  // namespace

TEST_CASE("the sum of gradients is the pairwise tree bit for bit, the same in all processes") {
  for (const int64_t processes : {1, 2, 3, 4, 7}) {
    const auto gradients = random_gradients(processes);
    std::vector<torch::Tensor> parts;
    for (const auto& gradient : gradients) parts.push_back(gradient.clone());
    tree_sum(processes, [&](int64_t i, int64_t j) { parts[i].add_(parts[j]); });
    for (const torch::Tensor& result : summed(gradients)) {
      CHECK(torch::equal(result, parts[0]));
    }
  }
}

TEST_CASE("the norm's squares have the same bits with any number of threads") {
  const torch::Tensor flat = random_gradients(1)[0];
  const torch::Tensor once = block_squares(flat);
  CHECK(once.numel() == 4);
  CHECK(std::sqrt(once.sum().item<double>()) == Approx(flat.norm().item<double>()).epsilon(1e-5));
  const testing::Threads threads(3);
  CHECK(torch::equal(block_squares(flat), once));
}

TEST_CASE("processes train like as many threads, bit for bit, sharded or not") {
  TrainConfig config = testing::copying_training();
  config.accumulate = 2;
  config.clip_norm = 0.5;
  for (const int64_t processes : {2, 3, 4}) {
    Trained threads;
    {
      const testing::Threads scope(static_cast<int>(processes));
      threads = train(1, config, false);
    }
    check_same(train(processes, config, false), threads);
    check_same(train(processes, config, true), threads);
  }
}
