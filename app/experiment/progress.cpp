#include "app/experiment/progress.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "base/error.h"
#include "base/format.h"

namespace attn {

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole >= 3600) {
    return format("%lld h %02lld min", static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole / 60 % 60));
  }
  if (whole >= 60) {
    return format("%lld min %02lld s", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  }
  return format("%lld s", static_cast<long long>(whole));
}

Progress::Progress(const std::filesystem::path& log, int64_t steps, int64_t done)
    : log_(log, std::ios::app),
      last_step_(steps),
      first_step_(done),
      now_step_(done),
      terminal_(isatty(STDERR_FILENO) != 0) {
  if (!log_) throw DataError(log.string() + ": cannot be written; is the directory writable?");
}

Progress::~Progress() {
  clear_line();
}

void Progress::clear_line() {
  if (line_drawn_) std::cerr << "\r\033[K" << std::flush;
  line_drawn_ = false;
}

void Progress::say(const std::string& line) {
  clear_line();
  std::cerr << line << std::endl;
  log_ << line << std::endl;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count() - excluded_;
}

void Progress::exclude(double seconds) {
  excluded_ += seconds;
}

void Progress::step(const StepReport& report) {
  const auto tokens = static_cast<double>(report.target_tokens);
  sums_.loss += report.loss * tokens;
  sums_.nll += report.nll * tokens;
  sums_.tokens += tokens;
  ++sums_.steps;
  now_step_ = report.step;
  latest_ = report;
  if (!terminal_ || Clock::now() - drawn_ < std::chrono::milliseconds(250)) return;
  drawn_ = Clock::now();
  std::cerr << "\r\033[K" << text(report.step, mean_of(sums_)) << std::flush;
  line_drawn_ = true;
}

Progress::Window Progress::mean_of(const Sums& sums) const {
  const double elapsed = std::max(seconds() - sums.began, 1e-9);
  const double tokens = std::max(sums.tokens, 1.0);
  const double per_step =
      seconds() / static_cast<double>(std::max<int64_t>(now_step_ - first_step_, 1));
  return {.loss = sums.loss / tokens,
          .perplexity = std::exp(sums.nll / tokens),
          .learning_rate = latest_.learning_rate,
          .gradient_norm = latest_.gradient_norm,
          .tokens_per_second = sums.tokens / elapsed,
          .seconds_left = per_step * static_cast<double>(last_step_ - now_step_)};
}

Progress::Window Progress::take_window() {
  const Window window = mean_of(sums_);
  sums_ = {};
  sums_.began = seconds();
  return window;
}

std::string Progress::text(int64_t step, const Window& window) const {
  return format("step %lld/%lld  loss %.4f  ppl %.2f  %.0f tokens/s  lr %.3e  %s left",
                static_cast<long long>(step), static_cast<long long>(last_step_), window.loss,
                window.perplexity, window.tokens_per_second, window.learning_rate,
                duration_text(window.seconds_left).c_str());
}

}  // namespace attn
