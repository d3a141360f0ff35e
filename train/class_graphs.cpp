#include "train/class_graphs.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace attn {
namespace {

std::vector<torch::Tensor> copies(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> out;
  for (const torch::Tensor& tensor : tensors) out.push_back(tensor.clone());
  return out;
}

// As bits: results may be NaN.
bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::equal(a.view(torch::kInt32), b.view(torch::kInt32));
}

// The greatest between elements.
double difference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double greatest = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    const torch::Tensor apart = (a[i] - b[i]).abs().max();
    if (!(apart.item<double>() <= greatest)) greatest = apart.item<double>();  // or NaN
  }
  return greatest;
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
  ++batches_;
  const bool again = std::exchange(of.seen, true);
  if (capture_ && !of.graph && again && graphs_ < kMostGraphs) capture(of, batch, own);
  torch::manual_seed(seed);
  if (!capture_ || !of.graph) {  // stop() has removed `of`
    work_(own);
  } else if (differs_first(of, batch)) {
    compare(*of.graph, own, seed);
  } else {
    of.graph->replay();
  }
}

void ClassGraphs::capture(OfClass& of, const StaticBatch& batch, const StaticBatch& own) {
  try {
    const Capturing scope;
    of.graph = capture_([this, own] { work_(own); });
    of.captured = batch.block;
    ++graphs_;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    stop("a capture failed: " + text.substr(0, text.find('\n')));
  }
}

bool ClassGraphs::differs_first(OfClass& of, const StaticBatch& batch) const {
  if (!of.captured.defined()) return false;
  const auto values = [](const torch::Tensor& block) {  // without factor and seed
    return block.narrow(0, 2, block.numel() - 2);
  };
  const bool compared = batches_ <= kCompared;
  if (compared && torch::equal(values(of.captured), values(batch.block))) return false;
  of.captured.reset();
  return compared;
}

void ClassGraphs::compare(Graph& graph, const StaticBatch& own, uint64_t seed) {
  const std::vector<torch::Tensor> before = copies(results_);
  const auto results_of = [&](const std::function<void()>& way) {
    for (size_t i = 0; i < results_.size(); ++i) results_[i].copy_(before[i]);
    torch::manual_seed(seed);
    way();
    return copies(results_);
  };
  const auto eager = [&] { work_(own); };
  const auto replayed = results_of([&] { graph.replay(); }), expected = results_of(eager);
  if (std::ranges::equal(replayed, expected, same_bits)) return;
  // Some of LibTorch's kernels add in any order: by as much as their results vary.
  constexpr double kTimes = 4.0;
  if (difference(replayed, expected) <= kTimes * difference(results_of(eager), expected)) return;
  stop("a replayed batch gave other results than the same batch computed kernel by kernel");
}

}  // namespace attn
