#include "app/sweep/progress.h"

#include <algorithm>
#include <iostream>

#include "app/experiment/progress_line.h"
#include "app/experiment/run_result.h"
#include "app/sweep/costs.h"
#include "app/sweep/status.h"
#include "base/error.h"
#include "base/format.h"

namespace attn {

using Stage = RunWork::Stage;

SweepProgress::SweepProgress(const SweepPlan& plan, int64_t jobs)
    : plan_(plan),
      jobs_(jobs),
      order_(start_order(plan)),
      read_(plan.runs.size(), false),
      terminal_(draws_on_stderr()) {
  for (const PlannedRun& run : plan.runs) {
    work_.push_back({.flops = run_flops(run), .earlier = true});
  }
}

void SweepProgress::clear_line() {
  if (line_drawn_) std::cerr << "\r\033[K" << std::flush;
  line_drawn_ = false;
}

void SweepProgress::log(const std::string& line) {
  clear_line();
  std::cerr << line << std::endl;
}

std::string SweepProgress::text() {
  std::string running;
  std::vector<RunWork> in_order;
  for (const size_t i : order_) {
    RunWork& run = work_[i];
    if (run.stage == Stage::running || !read_[i]) {
      const PlannedRun& planned = plan_.runs[i];
      const RunProgress progress = read_progress(planned, plan_.metrics);
      const int64_t steps = planned.experiment.train.steps;
      run.share = std::min(1.0, static_cast<double>(progress.step) / static_cast<double>(steps));
      run.seconds = progress.seconds + progress.evaluation_seconds;
      if (run.stage == Stage::running) {
        run.earlier = false;
        running += "; " + run_name(plan_, planned) + " " + std::to_string(progress.step) + "/" +
                   std::to_string(steps);
        if (progress.ppl > 0) running += " ppl " + decimal(progress.ppl, 2);
      }
      read_[i] = run.stage != Stage::running;
    }
    in_order.push_back(run);
  }
  const auto finished = std::ranges::count(work_, Stage::finished, &RunWork::stage);
  std::string text =
      std::to_string(finished) + " of " + std::to_string(work_.size()) + " runs finished";
  if (const auto left = seconds_left(in_order, jobs_); left && *left > 0) {
    text += ", about " + duration_text(*left) + " left";
  }
  return text + running;
}

void SweepProgress::show() {
  const auto wait = terminal_ ? Clock::duration(std::chrono::seconds(1)) : std::chrono::minutes(5);
  if (Clock::now() - shown_ < wait) return;
  shown_ = Clock::now();
  if (!terminal_) {
    std::cerr << text() << std::endl;
    return;
  }
  const std::string line = text();
  clear_line();
  // Cut to the width of the terminal by not wrapping.
  std::cerr << "\033[?7l" << line << "\033[?7h" << std::flush;
  line_drawn_ = true;
}

std::string results_text(const SweepPlan& plan, const PlannedRun& run) {
  std::string text;
  try {
    const std::optional<RunResult> result = read_result(run.directory);
    for (const MetricFacts& facts : kMetrics) {
      if (!result) break;
      const auto score = result->score(plan.metrics.evaluators[facts.metric], facts.key);
      if (score)
        text += std::string(text.empty() ? "" : "  ") + facts.key + " " + decimal(*score, 2);
    }
  } catch (const DataError& error) {  // damaged since the run finished
    return error.what();
  }
  return text;
}

std::optional<double> seconds_left(std::span<const RunWork> runs, int64_t jobs) {
  const auto sum = [&](bool earlier, auto value) {
    double total = 0.0;
    for (const RunWork& run : runs) total += run.earlier == earlier ? value(run) : 0.0;
    return total;
  };
  const auto trained = [](const RunWork& run) { return run.share * run.flops; };
  const auto seconds = [](const RunWork& run) { return run.seconds; };
  const bool earlier = sum(false, trained) * sum(false, seconds) == 0.0;
  const double flops = sum(earlier, trained);
  if (flops == 0.0) return {};
  const double rate = sum(earlier, seconds) / flops;
  std::vector<double> running, waiting;
  for (const RunWork& run : runs) {
    if (run.stage == RunWork::Stage::finished || run.stage == RunWork::Stage::stopped) continue;
    (run.stage == RunWork::Stage::running ? running : waiting)
        .push_back((1.0 - run.share) * run.flops * rate);
  }
  return makespan(running, waiting, jobs);
}

}  // namespace attn
