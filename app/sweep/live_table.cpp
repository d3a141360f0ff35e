#include "app/sweep/live_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "app/experiment/progress_line.h"
#include "app/experiment/run_result.h"
#include "app/sweep/status.h"
#include "base/error.h"
#include "base/format.h"

namespace attn {
namespace {

constexpr auto kRedraw = std::chrono::seconds(1);
constexpr auto kLogEvery = std::chrono::minutes(5);

const char* name_of(LiveTable::State state) {
  using State = LiveTable::State;
  switch (state) {
    case State::waiting:
      return "waiting";
    case State::running:
      return "running";
    case State::finished:
      return "finished";
    case State::stopped:
      return "stopped";
    case State::failed:
      return "failed";
  }
  return "";
}

struct Window {
  size_t rows = 24, columns = 80;
};
Window window() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {};
  return {size.ws_row, size.ws_col};
}

}  // namespace

LiveTable::LiveTable(const SweepPlan& plan, int64_t jobs)
    : plan_(plan),
      jobs_(jobs),
      order_(start_order(plan)),
      trained_(plan.runs.size()),
      states_(plan.runs.size(), State::waiting),
      why_(plan.runs.size()),
      started_(plan.runs.size(), false),
      terminal_(draws_on_stderr()) {
  for (const PlannedRun& run : plan.runs) flops_.push_back(run_flops(run));
}

LiveTable::~LiveTable() {
  erase();
}

void LiveTable::set(size_t run, State state, const std::string& why) {
  states_[run] = state;
  if (state == State::running) started_[run] = true;
  trained_[run].reset();
  why_[run] = why;
}

std::string LiveTable::results(size_t run) const {
  std::optional<RunResult> result;
  try {
    result = read_result(plan_.runs[run].directory);
  } catch (const DataError& error) {  // damaged since the run finished; the table is still drawn
    return error.what();
  }
  if (!result) return "";
  std::string text;
  for (const MetricFacts& facts : kMetrics) {
    const auto score = result->score(plan_.metrics.evaluators[facts.metric], facts.key);
    if (score) text += std::string(text.empty() ? "" : "  ") + facts.key + " " + decimal(*score, 2);
  }
  return text;
}

std::string LiveTable::line(size_t run) const {
  const PlannedRun& planned = plan_.runs[run];
  const std::string name = run_name(plan_, planned);
  std::string text = format("%-28s %-9s", name.c_str(), name_of(states_[run]));
  if (states_[run] == State::finished) return text + "  " + results(run);
  if (states_[run] == State::waiting) return text;
  if (states_[run] == State::failed) return text + "  " + why_[run];
  const RunProgress progress = read_progress(planned, plan_.metrics);
  const int64_t steps = planned.experiment.train.steps;
  text +=
      format("  %lld/%lld", static_cast<long long>(progress.step), static_cast<long long>(steps));
  if (progress.ppl > 0) text += "  ppl " + decimal(progress.ppl, 2);
  if (states_[run] != State::running || progress.step == 0) return text;
  const double spent = progress.seconds + progress.evaluation_seconds;
  const double left =
      spent / static_cast<double>(progress.step) * static_cast<double>(steps - progress.step);
  return text + format("  %.0f tokens/s  ", progress.tokens_per_second) + duration_text(left) +
         " left";
}

// As many lines as fit on the screen, running runs first.
std::vector<std::string> LiveTable::lines() const {
  std::vector<size_t> order(states_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const Window screen = window();
  const size_t room = screen.rows > 3 ? screen.rows - 3 : 1;
  if (order.size() > room) {
    std::stable_partition(order.begin(), order.end(),
                          [&](size_t i) { return states_[i] == State::running; });
  }
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(room, order.size()); ++i) {
    out.push_back(line(order[i]).substr(0, screen.columns - 1));
  }
  out.push_back(summary());
  return out;
}

RunWork LiveTable::work(size_t run) const {
  using Stage = RunWork::Stage;
  const State state = states_[run];
  const bool running = state == State::running;
  if (running || !trained_[run]) {
    const RunProgress progress = read_progress(plan_.runs[run], plan_.metrics);
    const auto steps = static_cast<double>(plan_.runs[run].experiment.train.steps);
    const double share = std::min(1.0, static_cast<double>(progress.step) / steps);
    trained_[run] = {.share = state == State::finished ? 1.0 : share,
                     .seconds = progress.seconds + progress.evaluation_seconds};
  }
  return {.stage = running                   ? Stage::running
                   : state == State::waiting ? Stage::waiting
                                             : Stage::ended,
          .row = plan_.runs[run].row,
          .flops = flops_[run],
          .share = trained_[run]->share,
          .seconds = trained_[run]->seconds,
          .earlier = !started_[run]};
}

// "3 of 60 runs finished, about 4 h 10 min left".
std::string LiveTable::summary() const {
  std::vector<RunWork> runs;
  for (const size_t i : order_) runs.push_back(work(i));
  const auto finished = std::count(states_.begin(), states_.end(), State::finished);
  std::string text =
      format("%lld of %zu runs finished", static_cast<long long>(finished), states_.size());
  const bool all = std::all_of(runs.begin(), runs.end(), [](const RunWork& run) {
    return run.stage == RunWork::Stage::ended;
  });
  const auto left = all ? std::nullopt : seconds_left(runs, jobs_);
  if (left) text += format(", about %s left", duration_text(*left).c_str());
  return text;
}

void LiveTable::erase() {
  if (drawn_lines_ > 0) std::cerr << "\033[" << drawn_lines_ << "A\033[J";
  drawn_lines_ = 0;
}

void LiveTable::draw() {
  if (Clock::now() - drawn_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLogEvery))) {
    return;
  }
  drawn_ = Clock::now();
  if (!terminal_) {
    for (size_t i = 0; i < states_.size(); ++i) {
      if (states_[i] == State::running) std::cerr << line(i) << std::endl;
    }
    std::cerr << summary() << std::endl;
    return;
  }
  const std::vector<std::string> now = lines();
  erase();
  for (const std::string& text : now) std::cerr << text << "\n";
  std::cerr << std::flush;
  drawn_lines_ = now.size();
  shown_ = true;
}

void LiveTable::log(const std::string& line) {
  erase();
  std::cerr << line << std::endl;
}

void LiveTable::close() {
  if (terminal_ && shown_) {
    drawn_ = {};
    draw();
  }
  drawn_lines_ = 0;  // the table stays
  shown_ = false;
}

}  // namespace attn
