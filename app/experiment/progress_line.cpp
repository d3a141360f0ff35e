#include "app/experiment/progress_line.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <utility>

#include "app/experiment/progress.h"
#include "base/format.h"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kFirstDrawn{1.0}, kRedraw{0.5};
constexpr Seconds kFirstLogged{60.0}, kLogEvery{300.0};

}  // namespace

std::string progress_text(const std::string& what, const std::string& unit, int64_t done,
                          const ProgressTotal& total, double seconds) {
  if (done <= 0 || seconds <= 0) return what + "  " + duration_text(seconds);
  const double rate = static_cast<double>(done) / seconds;
  std::string text = what + format("  %lld", static_cast<long long>(done));
  const bool has_total = total.count >= done;
  if (has_total) {
    text += format("/%s%lld", total.estimated ? "~" : "", static_cast<long long>(total.count));
  }
  text.append(" ").append(unit).append(format("  %.*f/s", rate < 100 ? 1 : 0, rate));
  if (!has_total) return text;
  return text.append("  ")
      .append(duration_text(static_cast<double>(total.count - done) / rate))
      .append(" left");
}

bool output_is_hidden() {
  return isatty(STDOUT_FILENO) == 0;
}

ProgressLine::ProgressLine(ProgressSource source, bool shown) : source_(std::move(source)) {
  if (shown) thread_ = std::thread([this] { run(); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void ProgressLine::run() {
  const bool terminal = draws_on_stderr();
  const auto begin = Clock::now();
  Seconds wait = terminal ? kFirstDrawn : kFirstLogged;
  bool drawn = false;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, wait, [this] { return end_; })) {
    const std::string text = progress_text(
        source_.what, source_.unit, source_.done ? source_.done() : 0,
        source_.total ? source_.total() : ProgressTotal{}, Seconds(Clock::now() - begin).count());
    std::cerr << (terminal ? "\r\033[K" : "") << text << (terminal ? "" : "\n") << std::flush;
    drawn = terminal;
    wait = terminal ? kRedraw : kLogEvery;
  }
  if (drawn) std::cerr << "\r\033[K" << std::flush;
}

}  // namespace attn
