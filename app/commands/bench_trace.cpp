#include "app/commands/bench_trace.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "app/machine/device.h"
#include "base/format.h"

namespace attn {
namespace {

namespace profiler = torch::profiler::impl;

struct Event {
  std::string name;
  uint64_t thread, begin, end;  // nanoseconds
};

// Those of a GPU's kernels and copies, or else of operators, in the order of their begins; of equal
// begins the outer one first.
std::vector<Event> recorded(const std::function<void()>& update, int64_t times,
                            torch::Device device) {
  ::setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);  // it writes its own steps to stderr
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  std::set<profiler::ActivityType> activities{profiler::ActivityType::CPU};
  if (device.is_cuda()) activities.insert(profiler::ActivityType::CUDA);
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
  for (int64_t i = 0; i < times; ++i) update();
  synchronize(device);
  const auto result = torch::autograd::profiler::disableProfiler();
  std::vector<Event> events;
  for (const auto& event : result->events()) {
    if (event.deviceType() != device.type()) continue;
    events.push_back({event.name(), event.startThreadId(), event.startNs(), event.endNs()});
  }
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return events;
}

}  // namespace

Trace trace_of(const std::function<void()>& update, int64_t times, torch::Device device) {
  constexpr double kNanosecond = 1e-9;
  Trace trace{.updates = times};
  std::map<std::string, TraceRow> by_name;
  std::map<uint64_t, std::vector<const Event*>> open;  // of a thread, from the outermost
  const std::vector<Event> events = recorded(update, times, device);
  uint64_t last = events.empty() ? 0 : events.front().begin;
  for (const Event& event : events) {
    const double seconds = kNanosecond * static_cast<double>(event.end - event.begin);
    TraceRow& row = by_name[event.name];
    row.name = event.name;
    ++row.calls;
    row.seconds += seconds;
    std::vector<const Event*>& callers = open[event.thread];
    while (!callers.empty() && callers.back()->end < event.end) callers.pop_back();
    if (!device.is_cuda() && !callers.empty()) by_name[callers.back()->name].seconds -= seconds;
    callers.push_back(&event);
    if (event.begin > last) {
      trace.longest_gap =
          std::max(trace.longest_gap, kNanosecond * static_cast<double>(event.begin - last));
    }
    const uint64_t from = std::max(last, event.begin);
    if (event.end > from) trace.busy_seconds += kNanosecond * static_cast<double>(event.end - from);
    last = std::max(last, event.end);
  }
  if (!events.empty()) {
    trace.seconds = kNanosecond * static_cast<double>(last - events.front().begin);
  }
  for (auto& [name, row] : by_name) trace.rows.push_back(std::move(row));
  std::ranges::sort(trace.rows,
                    [](const TraceRow& a, const TraceRow& b) { return a.seconds > b.seconds; });
  return trace;
}

std::string trace_table(const Trace& trace) {
  constexpr size_t kMost = 40;  // rows
  double all = 0.0;
  int64_t calls = 0;
  for (const TraceRow& row : trace.rows) all += row.seconds, calls += row.calls;
  const double each = 1e3 / static_cast<double>(trace.updates);  // milliseconds of an update
  std::string text = format(
      "an update: %.3f ms, %.1f %% of it between calls (at most %.3f ms), %.0f calls\n"
      "%10s %7s %8s  name",
      each * trace.seconds, 100 * (1 - trace.busy_seconds / trace.seconds), 1e3 * trace.longest_gap,
      static_cast<double>(calls) / static_cast<double>(trace.updates), "ms", "share", "calls");
  for (size_t i = 0; i < std::min(kMost, trace.rows.size()); ++i) {
    const TraceRow& row = trace.rows[i];
    text += format("\n%10.4f %5.1f %% %8.1f  %s", each * row.seconds, 100 * row.seconds / all,
                   static_cast<double>(row.calls) / static_cast<double>(trace.updates),
                   row.name.substr(0, 100).c_str());
  }
  return text;
}

}  // namespace attn
