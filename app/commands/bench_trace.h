// What updates consist of: a GPU's kernels, or a CPU's operators, by the time that they take.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

struct TraceRow {
  std::string name;
  int64_t calls = 0;
  double seconds = 0.0;  ///< in all; an operator's without those that it calls
};

struct Trace {
  int64_t updates = 0;
  std::vector<TraceRow> rows;  ///< the longest first
  double seconds = 0.0;        ///< from the first one's begin to the last one's end
  double busy_seconds = 0.0;   ///< of these, in which any of them runs
  double longest_gap = 0.0;    ///< seconds, between two
};

/// Traces `times` updates, after others, by LibTorch's profiler (kineto).
Trace trace_of(const std::function<void()>& update, int64_t times, torch::Device device);

/// A table of the longest rows, with their shares of all and the means of an update.
std::string trace_table(const Trace& trace);

}  // namespace attn
