// How fast training goes and what it gives meanwhile: means over the steps since the last line of
// the log, and the time spent in training alone.
#pragma once

#include <chrono>
#include <cstdint>

#include "train/state.h"

namespace attn {

/// Some steps of training as one line of the log has them.
struct TrainingWindow {
  int64_t step = 0;                                 ///< the last one
  double loss = 0.0, perplexity = 0.0;              ///< means over target tokens
  double learning_rate = 0.0, gradient_norm = 0.0;  ///< of the last step
  double tokens_per_second = 0.0;                   ///< target tokens
  double seconds = 0.0;       ///< in training so far, in earlier processes too
  double seconds_left = 0.0;  ///< to the run's last step
};

class Throughput {
 public:
  /// Its clock starts now; `begun` is where training stands, `last_step` where it will end.
  Throughput(const TrainState& begun, int64_t last_step);

  void add(const StepReport& report);
  /// The steps since the last take_window().
  TrainingWindow window() const;
  TrainingWindow take_window();
  /// Time spent outside of training (evaluating, saving) is not counted.
  void exclude(double seconds) { excluded_ += seconds; }
  /// In training so far, `begun` included.
  double seconds() const { return earlier_ + seconds_here(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Sums {
    double loss = 0.0, nll = 0.0, tokens = 0.0;
    double began = 0.0;
  };
  double seconds_here() const;

  int64_t first_step_;
  int64_t last_step_;
  double earlier_;
  Clock::time_point start_ = Clock::now();
  double excluded_ = 0.0;
  Sums sums_;
  StepReport latest_;
};

}  // namespace attn
