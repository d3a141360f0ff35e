#include "kernels/ops/measure.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <vector>

#include "base/format.h"
#include "base/stop_signal.h"
#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"

namespace attn {
namespace {

constexpr int kTraced = 10;  // updates
constexpr int kProducts = 6;
constexpr double kLongEnough = 0.5;  // seconds

// Seconds of the fastest call.
template <class F>
double shortest(F&& work, torch::Device device) {
  throw_if_stopped();
  work();
  synchronize(device);
  double best = std::numeric_limits<double>::infinity(), spent = 0.0;
  for (int i = 0; i < kProducts && spent < kLongEnough; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    synchronize(device);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    spent += seconds.count();
    best = std::min(best, seconds.count());
  }
  return best;
}

// FLOP/s of products of this width; `seconds`: of the fastest one.
double rate_of(int64_t width, Precision precision, torch::Device device, double& seconds) {
  const auto options = torch::TensorOptions().device(device).dtype(
      precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat);
  // No random numbers: the measurement must not change the generator state of a run.
  const torch::Tensor a = torch::full({width, width}, 0.5, options), b = torch::ones_like(a);
  torch::Tensor product = torch::empty_like(a);
  seconds = shortest([&] { torch::mm_out(product, a, b); }, device);
  if (device.is_cpu() && has_packed_products(precision)) {
    PackedWeights packed(precision, /*gradients=*/false);
    const ComputeScope scope({.precision = precision, .packed_weights = &packed});
    const torch::Tensor x = a.to(torch::kFloat32), weight = b.to(torch::kFloat32);
    linear(x, {weight, {}});  // packs the weight
    seconds = std::min(seconds, shortest([&] { linear(x, {weight, {}}); }, device));
  }
  return 2.0 * std::pow(static_cast<double>(width), 3) / seconds;
}

using Event = torch::autograd::profiler::KinetoEvent;

// Traces updates by LibTorch's profiler (kineto): a GPU's kernels and copies, or else operators, in
// the order of their begins; of equal begins the outer one first.
std::vector<Event> traced(const std::function<void()>& update, torch::Device device) {
  namespace profiler = torch::profiler::impl;
  ::setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);  // it writes its own steps to stderr
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  std::set<profiler::ActivityType> activities{profiler::ActivityType::CPU};
  if (device.is_cuda()) activities.insert(profiler::ActivityType::CUDA);
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
  for (int64_t i = 0; i < kTraced; ++i) update();
  synchronize(device);
  std::vector<Event> events = torch::autograd::profiler::disableProfiler()->events();
  std::erase_if(events, [&](const Event& event) { return event.deviceType() != device.type(); });
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return a.startNs() != b.startNs() ? a.startNs() < b.startNs() : a.endNs() > b.endNs();
  });
  return events;
}

}  // namespace

void synchronize(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize();
}

double matrix_product_peak(Precision precision, torch::Device device) {
  const torch::NoGradGuard no_grad;
  constexpr int64_t kWidth = 2048, kGpuWidth = 4096;  // a GPU's hides launch overhead
  // From narrow products on: where they are slow, bf16 without its instructions for example, wide
  // ones would take minutes and have the same rate.
  double best = 0.0, seconds = 0.0;
  for (int64_t width = 256; width <= (device.is_cuda() ? kGpuWidth : kWidth); width *= 2) {
    best = std::max(best, rate_of(width, precision, device, seconds));
    if (8 * seconds > kLongEnough) break;
  }
  return best;
}

std::string trace_table(const std::function<void()>& update, torch::Device device) {
  constexpr size_t kMost = 40;  // rows
  struct Row {
    double calls = 0.0, time = 0.0;
  };
  std::map<std::string, Row> by_name;
  std::map<uint64_t, std::vector<const Event*>> open;  // of a thread, from the outermost
  const std::vector<Event> events = traced(update, device);
  const uint64_t first = events.empty() ? 0 : events.front().startNs();
  uint64_t last = first, idle = 0, longest_gap = 0;
  double all = 0.0;
  for (const Event& event : events) {
    const auto time = static_cast<double>(event.durationNs());
    Row& row = by_name[event.name()];
    ++row.calls;
    row.time += time;
    all += time;
    std::vector<const Event*>& callers = open[event.startThreadId()];
    while (!callers.empty() && callers.back()->endNs() < event.endNs()) callers.pop_back();
    if (!device.is_cuda() && !callers.empty()) {
      by_name[callers.back()->name()].time -= time;
      all -= time;
    }
    callers.push_back(&event);
    const uint64_t gap = std::max(event.startNs(), last) - last;
    idle += gap;
    longest_gap = std::max(longest_gap, gap);
    last = std::max(last, event.endNs());
  }
  std::vector<std::pair<std::string, Row>> rows(by_name.begin(), by_name.end());
  std::ranges::sort(rows, std::ranges::greater(), [](const auto& row) { return row.second.time; });
  constexpr double kEach = 1e-6 / kTraced;  // milliseconds of an update
  const auto span = static_cast<double>(last - first);
  std::string text = format(
      "an update: %.3f ms, %.1f %% of it between calls (at most %.3f ms), %.0f calls\n"
      "%10s %7s %8s  name",
      kEach * span, 100 * static_cast<double>(idle) / span, 1e-6 * static_cast<double>(longest_gap),
      static_cast<double>(events.size()) / kTraced, "ms", "share", "calls");
  for (const auto& [name, row] : rows | std::views::take(kMost)) {
    text += format("\n%10.4f %5.1f %% %8.1f  %s", kEach * row.time, 100 * row.time / all,
                   row.calls / kTraced, name.substr(0, 100).c_str());
  }
  return text;
}

}  // namespace attn
