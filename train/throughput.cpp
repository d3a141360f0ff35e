#include "train/throughput.h"

#include <algorithm>
#include <cmath>

namespace attn {

Throughput::Throughput(const TrainState& begun, int64_t last_step)
    : first_step_(begun.step), last_step_(last_step), earlier_(begun.seconds) {
  latest_.step = begun.step;
}

double Throughput::seconds_here() const {
  return std::chrono::duration<double>(Clock::now() - start_).count() - excluded_;
}

void Throughput::add(const StepReport& report) {
  const auto tokens = static_cast<double>(report.target_tokens);
  sums_.loss += report.loss * tokens;
  sums_.nll += report.nll * tokens;
  sums_.tokens += tokens;
  ++sums_.updates;
  latest_ = report;
}

TrainingInterval Throughput::interval() const {
  const double here = seconds_here();
  const double elapsed = std::max(here - sums_.began, 1e-9);
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

TrainingInterval Throughput::take_interval() {
  const TrainingInterval taken = interval();
  sums_ = {};
  sums_.began = seconds_here();
  return taken;
}

}  // namespace attn
