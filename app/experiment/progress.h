// Progress of a run: a live line on a terminal, and the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "train/throughput.h"

namespace attn {

/// "1 h 02 min", "3 min 20 s", "45 s".
std::string duration_text(double seconds);

/// Whether standard error is a terminal that understands cursor escapes.
bool draws_on_stderr();

class Progress {
 public:
  /// Appends to `log` (RUN/log.txt) and writes to stderr. `last_step` is the run's number of steps.
  Progress(const std::filesystem::path& log, int64_t last_step);
  /// Writes nothing: for processes other than the first.
  explicit Progress(int64_t last_step) : last_step_(last_step), silent_(true) {}
  ~Progress();

  /// Writes a line to stderr and the log.
  void log(const std::string& line);
  /// Redraws the live line on a terminal, at most four times per second.
  void show(const Throughput& throughput);
  /// The log line of an interval.
  std::string text(const TrainingInterval& interval) const;

 private:
  using Clock = std::chrono::steady_clock;
  void clear_line();

  std::ofstream log_;
  int64_t last_step_;
  bool terminal_ = false;
  bool silent_ = false;
  bool line_drawn_ = false;
  Clock::time_point drawn_ = {};
};

}  // namespace attn
