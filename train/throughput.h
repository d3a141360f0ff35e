// Training speed and mean loss since the last log line; training time without evaluation.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "train/state.h"

namespace attn {

/// Means over an interval between log lines.
struct TrainingInterval {
  int64_t step = 0;                                 ///< last step
  double loss = 0.0, perplexity = 0.0;              ///< means over target tokens
  double learning_rate = 0.0, gradient_norm = 0.0;  ///< values of the last step
  double tokens_per_second = 0.0;                   ///< target tokens
  double seconds = 0.0;       ///< training time so far, including earlier processes
  double seconds_left = 0.0;  ///< until the last step
  int64_t updates = 0;        ///< in the interval
};

class Throughput {
 public:
  /// Starts the clock. `begun` is the state at the start, `last_step` the last step of the run.
  Throughput(const TrainState& begun, int64_t last_step)
      : first_step_(begun.step),
        last_step_(last_step),
        earlier_(begun.seconds),
        sums_(begun.interval) {
    latest_.step = begun.step;
  }

  void add(const StepReport& report) {
    const auto tokens = static_cast<double>(report.target_tokens);
    sums_.loss += report.loss * tokens;
    sums_.nll += report.nll * tokens;
    sums_.tokens += tokens;
    ++sums_.updates;
    latest_ = report;
  }
  /// The steps since the last take_interval().
  TrainingInterval interval() const {
    const double here = seconds_here();
    const double elapsed = std::max(earlier_ + here - sums_.began, 1e-9);
    const double tokens = std::max(sums_.tokens, 1.0);
    const double per_step =
        here / static_cast<double>(std::max<int64_t>(latest_.step - first_step_, 1));
    return {.step = latest_.step,
            .loss = sums_.loss / tokens,
            .perplexity = std::exp(sums_.nll / tokens),
            .learning_rate = latest_.learning_rate,
            .gradient_norm = latest_.gradient_norm,
            .tokens_per_second = sums_.tokens / elapsed,
            .seconds = earlier_ + here,
            .seconds_left = per_step * static_cast<double>(last_step_ - latest_.step),
            .updates = sums_.updates};
  }
  TrainingInterval take_interval() {
    const TrainingInterval taken = interval();
    sums_ = {.began = taken.seconds};
    return taken;
  }
  const IntervalSums& sums() const { return sums_; }
  /// Excludes time outside of training (evaluation, checkpoints).
  void exclude(double seconds) { excluded_ += seconds; }
  /// Training time so far, including that of `begun`.
  double seconds() const { return earlier_ + seconds_here(); }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_here() const {
    return std::chrono::duration<double>(Clock::now() - start_).count() - excluded_;
  }

  int64_t first_step_;
  int64_t last_step_;
  double earlier_;
  Clock::time_point start_ = Clock::now();
  double excluded_ = 0.0;
  IntervalSums sums_;
  StepReport latest_;
};

}  // namespace attn
