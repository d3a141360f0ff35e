// metrics.jsonl: the metrics of a run, one JSON object per line, in chronological order.
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

/// Appends to the log. Each record is one write of a whole line: a killed process leaves at most
/// one incomplete line.
class MetricsLog {
 public:
  /// Creates the file (not its folder) if missing and removes an incomplete last line. Throws
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
  /// Syncs all records to disk, before a checkpoint that follows them.
  /// Throws DataError.
  void sync();

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

/// Truncates the log before the first record with a "step" greater than `step` and before an
/// incomplete line: a run resumed from the checkpoint of `step` then has the same log as an
/// uninterrupted one. Records without a "step" belong to those before them. Does nothing without a
/// file. Throws DataError.
void keep_until_step(const std::filesystem::path& path, int64_t step);

}  // namespace attn
