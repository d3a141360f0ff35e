// metrics.jsonl: what a run measured, one JSON object a line, in the order in which it was
// measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace attn {

using MetricValue = std::variant<double, int64_t, std::string>;
using MetricField = std::pair<std::string, MetricValue>;

/// Appends to a log. Each record is one write of one whole line: a killed process tears at most the
/// last.
class MetricsLog {
 public:
  /// Makes the file (not its folder) where there is none and drops a torn last line. Throws
  /// DataError.
  explicit MetricsLog(std::filesystem::path path);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// Appends {"kind": kind, the fields in their order}. Doubles are written with as many digits as
  /// reading them back needs; JSON has no word for the non-finite ones, so they become the strings
  /// "NaN", "Infinity" and "-Infinity", which Python's float() and JavaScript's Number() read.
  /// Throws DataError (disk full …).
  void write(std::string_view kind, std::span<const MetricField> fields);
  void write(std::string_view kind, std::initializer_list<MetricField> fields) {
    write(kind, std::span(fields.begin(), fields.size()));
  }
  /// Waits until all records are on the disk: before a checkpoint that claims to follow them.
  /// Throws DataError.
  void sync();

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

/// Cuts the log before its first record whose "step" is greater than `step`, and before a torn last
/// line: a run that goes on from the checkpoint of `step` then writes the log that an undisturbed
/// run would have written. Records without a "step" belong to the ones before them. No file:
/// nothing to do. Throws DataError.
void keep_until_step(const std::filesystem::path& path, int64_t step);

}  // namespace attn
