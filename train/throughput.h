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
  int64_t updates = 0;        ///< in the interval, by this process
};

class Throughput {
 public:
  /// Starts the clock. `begun` is the state at the start, `last_step` the last step of the run.
  Throughput(const TrainState& begun, int64_t last_step)
      : begun_(begun), last_step_(last_step), sums_(begun.interval) {
    latest_.step = begun.step;
    if (sums_.tokens == 0) sums_.began = begun.seconds;
  }

  void add(const StepReport& report) {
    const auto tokens = static_cast<double>(report.target_tokens);
    sums_.loss += report.loss * tokens;
    sums_.nll += report.nll * tokens;
    sums_.tokens += tokens;
    ++updates_;
    latest_ = report;
  }
  /// The steps since the last take_interval().
  TrainingInterval interval() const {
    const double now = seconds(), tokens = std::max(sums_.tokens, 1.0);
    const int64_t steps = std::max<int64_t>(latest_.step - begun_.step, 1);
    const double per_step = (now - begun_.seconds) / static_cast<double>(steps);
    return {.step = latest_.step,
            .loss = sums_.loss / tokens,
            .perplexity = std::exp(sums_.nll / tokens),
            .learning_rate = latest_.learning_rate,
            .gradient_norm = latest_.gradient_norm,
            .tokens_per_second = sums_.tokens / std::max(now - sums_.began, 1e-9),
            .seconds = now,
            .seconds_left = per_step * static_cast<double>(last_step_ - latest_.step),
            .updates = updates_};
  }
  TrainingInterval take_interval() {
    const TrainingInterval taken = interval();
    sums_ = {.began = taken.seconds};
    updates_ = 0;
    return taken;
  }
  const IntervalSums& sums() const { return sums_; }
  /// Excludes time outside of training (evaluation, checkpoints).
  void exclude(double seconds) { excluded_ += seconds; }
  /// Training time so far, including that of `begun`.
  double seconds() const {
    const std::chrono::duration<double> here = Clock::now() - start_;
    return begun_.seconds + here.count() - excluded_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  TrainState begun_;
  int64_t last_step_;
  Clock::time_point start_ = Clock::now();
  double excluded_ = 0.0;
  IntervalSums sums_;
  int64_t updates_ = 0;
  StepReport latest_;
};

}  // namespace attn
