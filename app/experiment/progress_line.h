// Progress of a run, in its log and on stderr, and of a command on stderr: on a terminal one line
// that is redrawn, otherwise a line after one minute and then every five minutes.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "train/throughput.h"

namespace attn {

struct ProgressSource {
  std::string what;                    ///< "translating"
  std::string unit;                    ///< "sentences"
  std::function<int64_t()> done = {};  ///< called from another thread; empty: only show the time
  int64_t total = 0;                   ///< 0: unknown
};

/// "translating  120/2000 sentences  35.2/s  53 s left" after 120 of them. Without a known total
/// the remaining time is omitted; without a count the text is "averaging  12 s".
std::string progress_text(const ProgressSource& source, int64_t done, double seconds);

/// Shows progress from construction to destruction.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressSource source, bool shown = true);

 private:
  std::jthread thread_;
};

/// Whether a command that writes to stdout should show progress: false if stdout is a terminal.
bool output_is_hidden();

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
