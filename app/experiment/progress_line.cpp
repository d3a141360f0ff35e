#include "app/experiment/progress_line.h"

#include <unistd.h>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kFirstDrawn{1.0}, kRedraw{0.5};
constexpr Seconds kFirstLogged{60.0}, kLogEvery{300.0};

void show_until(const std::stop_token& stop, const ProgressSource& source) {
  const bool terminal = draws_on_stderr();
  const auto begin = Clock::now();
  Seconds wait = terminal ? kFirstDrawn : kFirstLogged;
  bool drawn = false;
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  while (true) {
    ended.wait_for(lock, stop, wait, [] { return false; });
    if (stop.stop_requested()) break;
    const std::string text = progress_text(source, source.done ? source.done() : 0,
                                           Seconds(Clock::now() - begin).count());
    std::cerr << (terminal ? "\r\033[K" : "") << text << (terminal ? "" : "\n") << std::flush;
    drawn = terminal;
    wait = terminal ? kRedraw : kLogEvery;
  }
  if (drawn) std::cerr << "\r\033[K" << std::flush;
}

}  // namespace

std::string progress_text(const ProgressSource& source, int64_t done, double seconds) {
  if (done <= 0 || seconds <= 0) return source.what + "  " + duration_text(seconds);
  const double rate = static_cast<double>(done) / seconds;
  const bool has_total = source.total >= done;
  std::string text = source.what + "  " + std::to_string(done);
  if (has_total) text += "/" + std::to_string(source.total);
  text += " " + source.unit + format("  %.*f/s", rate < 100 ? 1 : 0, rate);
  if (!has_total) return text;
  return text + "  " + duration_text(static_cast<double>(source.total - done) / rate) + " left";
}

bool output_is_hidden() {
  return isatty(STDOUT_FILENO) == 0;
}

ProgressLine::ProgressLine(ProgressSource source, bool shown) {
  if (!shown) return;
  thread_ = std::jthread(
      [source = std::move(source)](const std::stop_token& stop) { show_until(stop, source); });
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole >= 3600) {
    return format("%ld h %02ld min", whole / 3600, whole / 60 % 60);
  }
  if (whole >= 60) {
    return format("%ld min %02ld s", whole / 60, whole % 60);
  }
  return format("%ld s", whole);
}

bool draws_on_stderr() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

Progress::Progress(const std::filesystem::path& log, int64_t last_step)
    : last_step_(last_step), terminal_(draws_on_stderr()) {
  require_regular_file(log);
  if (std::filesystem::is_symlink(log)) throw_file_error("write", log, ELOOP);
  errno = 0;  // isatty sets it
  log_.open(log, std::ios::app);
  if (!log_) throw_file_error("write", log, errno);
}

Progress::~Progress() {
  clear_line();
}

void Progress::clear_line() {
  if (line_drawn_) std::cerr << "\r\033[K" << std::flush;
  line_drawn_ = false;
}

void Progress::log(const std::string& line) {
  if (silent_) return;
  clear_line();
  std::cerr << line << std::endl;
  // A full disk does not end the run; later lines are written when there is space again.
  if (!(log_ << line << std::endl)) log_.clear();
}

void Progress::show(const Throughput& throughput) {
  if (!terminal_ || Clock::now() - drawn_ < std::chrono::milliseconds(250)) return;
  drawn_ = Clock::now();
  std::cerr << "\r\033[K" << text(throughput.interval()) << std::flush;
  line_drawn_ = true;
}

std::string Progress::text(const TrainingInterval& interval) const {
  return format("step %ld/%ld  loss %s  ppl %s  %.0f tokens/s  lr %.3e  %s left", interval.step,
                last_step_, decimal(interval.loss, 4).c_str(),
                decimal(interval.perplexity, 2).c_str(), interval.tokens_per_second,
                interval.learning_rate, duration_text(interval.seconds_left).c_str());
}

}  // namespace attn
