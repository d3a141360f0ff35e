// What a person sees of a training run: one live line on a terminal, plain lines in the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "train/state.h"

namespace attn {

/// "1 h 02 min", "3 min 20 s", "45 s".
std::string duration_text(double seconds);

class Progress {
 public:
  /// Appends to `log` (RUN/log.txt); talks on stderr. `steps` is the last step, `done` where the
  /// run stands.
  Progress(const std::filesystem::path& log, int64_t steps, int64_t done);
  ~Progress();

  /// One line for people, on stderr and in the log.
  void say(const std::string& line);
  /// Counts a step; on a terminal it redraws the live line, at most four times a second.
  void step(const StepReport& report);
  /// Means since the last call, for the log and the metrics.
  struct Window {
    double loss = 0.0, perplexity = 0.0, learning_rate = 0.0, gradient_norm = 0.0;
    double tokens_per_second = 0.0, seconds_left = 0.0;
  };
  Window take_window();
  /// A window as text.
  std::string text(int64_t step, const Window& window) const;
  /// Time spent outside training since the last step (evaluating, saving) is not counted as
  /// training.
  void exclude(double seconds);
  /// Seconds in training since construction.
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Sums {
    double loss = 0.0, nll = 0.0, tokens = 0.0;
    int64_t steps = 0;
    double began = 0.0;
  };
  Window mean_of(const Sums& sums) const;
  void clear_line();

  std::ofstream log_;
  int64_t last_step_;
  int64_t first_step_;
  int64_t now_step_;
  bool terminal_;
  bool line_drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = {};
  double excluded_ = 0.0;
  Sums sums_;
  StepReport latest_;
};

}  // namespace attn
