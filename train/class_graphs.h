// The same work for batches of classes: captured once for each, and replayed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/graph.h"
#include "train/static_batch.h"

namespace attn {

/// Runs work on padded batches. The first batch of a class is computed eagerly, which makes tables
/// and workspaces, too; with the second the work is captured, and replayed from then on. Both are
/// the same kernels on the same shapes, with the same bits.
class ClassGraphs {
 public:
  using Work = std::function<void(const StaticBatch& on_device)>;

  /// `work` may read nothing of a batch but its tensors and its class. `results`: what it writes
  /// that outlives it.
  ClassGraphs(torch::Device device, std::vector<torch::Tensor> results, Work work);

  /// Captures from now on; until then, and after a failure, all batches are computed eagerly.
  /// `say` is told in a line why capturing ends: a capture that fails, or a result of a replay that
  /// differs by more than 1 % (of its change's norm) from the eager one, which then stays. Each
  /// class's second and third replay are compared: the third at the latest, after check_memory, is
  /// for another batch than it was captured with.
  void use(Capture capture, std::function<void(const std::string&)> say);
  /// Does the work for a batch. `seed`: of LibTorch's random numbers.
  void run(const StaticBatch& batch, uint64_t seed);

  static constexpr size_t kMostGraphs = 256;  ///< later classes stay eager

 private:
  struct OfClass {
    torch::Tensor block;  ///< that the graph reads
    std::shared_ptr<Graph> graph;
    bool seen = false;
    int64_t replays = 0;
  };
  void capture(OfClass& of, const StaticBatch& own);
  void compare(Graph& graph, const StaticBatch& own, uint64_t seed);
  void stop(const std::string& reason);

  torch::Device device_;
  std::vector<torch::Tensor> results_;
  Work work_;
  Capture capture_;
  std::function<void(const std::string&)> say_;
  torch::Tensor block_;  ///< of the largest class so far
  std::map<BatchClass, OfClass> classes_;
  size_t graphs_ = 0;
};

}  // namespace attn
