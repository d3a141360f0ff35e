// Progress of a sweep: a live table on a terminal, else a line per event.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/sweep/plan.h"
#include "app/sweep/schedule.h"

namespace attn {

class LiveTable {
 public:
  enum class State { waiting, running, finished, stopped, failed };

  /// `jobs` runs train at a time.
  LiveTable(const SweepPlan& plan, int64_t jobs);
  ~LiveTable();

  /// Sets the state shown for a run and, if it failed, the reason. The progress of running ones is
  /// read from the run's log.
  void set(size_t run, State state, const std::string& why = "");
  /// On a terminal redraws at most once a second, otherwise prints a line per running run every
  /// five minutes, and the time left for the sweep.
  void draw();
  /// Prints a line above the table, on stderr.
  void log(const std::string& line);
  /// The results of a finished run: "ppl 6.07  bleu 37.68", or what is wrong with its result.json.
  std::string results(size_t run) const;
  /// Draws the table one last time, if it has been drawn, and leaves it on the screen; the
  /// destructor erases it.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(size_t run) const;
  std::vector<std::string> lines() const;
  RunWork work(size_t run) const;
  std::string summary() const;
  void erase();

  const SweepPlan& plan_;
  int64_t jobs_;
  /// What a run's log says; see RunWork.
  struct Trained {
    double share = 0.0, seconds = 0.0;
  };
  std::vector<size_t> order_;  ///< in which runs start
  std::vector<double> flops_;  ///< FLOPs of each run, for the time left
  /// Read again only for running runs.
  mutable std::vector<std::optional<Trained>> trained_;
  std::vector<State> states_;
  std::vector<std::string> why_;
  std::vector<bool> started_;  ///< by this command
  bool terminal_;
  size_t drawn_lines_ = 0;  ///< above the cursor
  bool shown_ = false;      ///< a table has been drawn since the last close()
  Clock::time_point drawn_ = Clock::now();
};

}  // namespace attn
