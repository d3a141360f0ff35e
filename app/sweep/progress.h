// Progress of a sweep on stderr: a line per event, and how much is finished and left.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

/// A run, for the time that a sweep still needs.
struct RunWork {
  enum class Stage { waiting, running, finished, stopped };
  Stage stage = Stage::waiting;
  double flops = 0.0;    ///< FLOPs of the whole run
  double share = 0.0;    ///< share of its updates that are done, from 0 to 1
  double seconds = 0.0;  ///< time that these took, evaluations included
  bool earlier = false;  ///< trained before this command, possibly on another machine
};

/// Seconds until the last run ends, runs given in the order in which they start, at the rate of the
/// runs that this command has trained, else of earlier ones. std::nullopt if nothing has been
/// trained yet.
std::optional<double> seconds_left(std::span<const RunWork> runs, int64_t jobs);

class SweepProgress {
 public:
  /// `jobs` runs train at a time.
  SweepProgress(const SweepPlan& plan, int64_t jobs);
  ~SweepProgress() { clear_line(); }

  void set(size_t run, RunWork::Stage stage) { work_[run].stage = stage; }
  /// Prints the line of an event.
  void log(const std::string& line);
  /// "3 of 60 runs finished, about 4 h 10 min left; B1/seed-1 4200/10000 ppl 6.31": on a terminal
  /// one line that is redrawn every second, otherwise a line every five minutes.
  void show();

 private:
  using Clock = std::chrono::steady_clock;
  std::string text();
  void clear_line();

  const SweepPlan& plan_;
  int64_t jobs_;
  std::vector<size_t> order_;  ///< in which runs start
  std::vector<RunWork> work_;
  std::vector<bool> read_;  ///< whether the log of a run that is not running has been read
  bool terminal_;
  bool line_drawn_ = false;
  Clock::time_point shown_ = Clock::now();
};

/// The results of a finished run: "ppl 6.07  bleu 37.68", or what is wrong with its result.json.
std::string results_text(const SweepPlan& plan, const PlannedRun& run);

}  // namespace attn
