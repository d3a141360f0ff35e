// Progress of a command on stderr: on a terminal one line that is redrawn, otherwise a line after
// one minute and then every five minutes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace attn {

/// How much there is to do.
struct ProgressTotal {
  int64_t count = 0;       ///< 0: unknown
  bool estimated = false;  ///< shown as "~2000"
};

/// "translating  120/2000 sentences  35.2/s  53 s left". Without a known total the remaining time
/// is omitted; without a count the text is "averaging  12 s".
std::string progress_text(const std::string& what, const std::string& unit, int64_t done,
                          const ProgressTotal& total, double seconds);

struct ProgressSource {
  std::string what;                    ///< "translating"
  std::string unit;                    ///< "sentences"
  std::function<int64_t()> done = {};  ///< called from another thread; empty: only show the time
  std::function<ProgressTotal()> total = {};
};

/// Shows progress from construction to destruction.
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

/// Whether a command that writes to stdout should show progress: false if stdout is a terminal.
bool output_is_hidden();

}  // namespace attn
