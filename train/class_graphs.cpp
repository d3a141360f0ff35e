#include "train/class_graphs.h"

#include <cmath>
#include <exception>
#include <utility>

namespace attn {
namespace {

std::vector<torch::Tensor> copies(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> out;
  for (const torch::Tensor& tensor : tensors) out.push_back(tensor.clone());
  return out;
}

}  // namespace

ClassGraphs::ClassGraphs(torch::Device device, std::vector<torch::Tensor> results, Work work)
    : device_(device), results_(std::move(results)), work_(std::move(work)) {}

void ClassGraphs::use(Capture capture, std::function<void(const std::string&)> say) {
  capture_ = std::move(capture);
  say_ = std::move(say);
}

void ClassGraphs::stop(const std::string& reason) {
  capture_ = nullptr;
  classes_.clear();
  say_("CUDA graphs are off: " + reason + "; kernels are launched one by one");
}

void ClassGraphs::run(const StaticBatch& batch, uint64_t seed) {
  const int64_t size = batch.block.numel();
  if (!block_.defined() || block_.numel() < size) {
    block_ = torch::empty({size}, torch::TensorOptions(device_).dtype(torch::kInt64));
  }
  OfClass& of = classes_[batch.shape];
  if (!of.graph) of.block = block_.narrow(0, 0, size);
  const torch::Tensor sent = device_.is_cuda() ? batch.block.pin_memory() : batch.block;
  of.block.copy_(sent, /*non_blocking=*/true);
  const StaticBatch own = placed(batch, of.block);
  const bool again = std::exchange(of.seen, true);
  if (capture_ && !of.graph && again && graphs_ < kMostGraphs) capture(of, own);
  torch::manual_seed(seed);
  if (!capture_ || !of.graph) {  // stop() has removed `of`
    work_(own);
  } else if (++of.replays == 2 || of.replays == 3) {
    compare(*of.graph, own, seed);
  } else {
    of.graph->replay();
  }
}

void ClassGraphs::capture(OfClass& of, const StaticBatch& own) {
  try {
    const Capturing scope;
    of.graph = capture_([this, own] { work_(own); });
    ++graphs_;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    stop("a capture failed: " + text.substr(0, text.find('\n')));
  }
}

void ClassGraphs::compare(Graph& graph, const StaticBatch& own, uint64_t seed) {
  constexpr double kRounding = 1e-2;  // some of LibTorch's kernels add in any order
  const std::vector<torch::Tensor> before = copies(results_);
  graph.replay();
  const std::vector<torch::Tensor> replayed = copies(results_);
  for (size_t i = 0; i < results_.size(); ++i) results_[i].copy_(before[i]);
  torch::manual_seed(seed);
  work_(own);
  for (size_t i = 0; i < results_.size(); ++i) {
    const auto of_work = (results_[i] - before[i]).norm().item<double>(),
               apart = (results_[i] - replayed[i]).norm().item<double>();
    if (std::isfinite(of_work) && !(apart <= kRounding * of_work)) {  // a NaN of the replay, too
      return stop(
          "a replayed batch gave other results than the same batch computed kernel by kernel");
    }
  }
}

}  // namespace attn
