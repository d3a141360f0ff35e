// How far a command has come, on stderr: on a terminal one line that is redrawn, elsewhere a line
// after a minute and then every five.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace attn {

/// "translating  120/2000 sentences  35.2/s  53 s left"; without a total (0) no time left, and
/// without a count, "averaging  12 s".
std::string progress_text(const std::string& what, const std::string& unit, int64_t done,
                          int64_t total, double seconds);

struct ProgressSource {
  std::string what;                    ///< "translating"
  std::string unit;                    ///< "sentences"
  std::function<int64_t()> done = {};  ///< asked from another thread; empty: time alone is shown
  std::function<int64_t()> total = {};
};

/// Shows progress while it lives.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressSource source, bool shown = true);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void run();

  ProgressSource source_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

/// Whether a command whose output goes to stdout should show progress: not where the output itself
/// appears on the terminal.
bool output_is_hidden();

}  // namespace attn
