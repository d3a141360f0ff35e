// Progress of a sweep: a live table on a terminal, else a line per event.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

class LiveTable {
 public:
  explicit LiveTable(const SweepPlan& plan);
  ~LiveTable();

  /// The word for a run's state and, of a failed one, why; "running" ones have their progress
  /// looked up.
  void set(size_t run, const std::string& state, const std::string& why = "");
  /// Redraws, on a terminal at most once a second; elsewhere a line for each running run every five
  /// minutes.
  void draw();
  /// A line that stays, on stderr.
  void log(const std::string& line);
  /// "ppl 6.07  bleu 37.68" of a finished run.
  std::string results(size_t run) const;
  /// Leaves the table as it last was.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(size_t run) const;
  std::vector<std::string> lines() const;
  void erase();

  const SweepPlan& plan_;
  std::vector<std::string> states_, why_;
  bool terminal_;
  size_t drawn_lines_ = 0;
  Clock::time_point drawn_ = Clock::now();
};

}  // namespace attn
