// metrics.jsonl: the metrics of a run, one JSON object per line, in chronological order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/json_patch.h"

namespace attn {

/// Appends to the log. Each record is a single write of one line, so that a killed process leaves
/// at most one incomplete line.
class MetricsLog {
 public:
  /// Creates the file (not its directory) if missing and removes an incomplete last line, or what
  /// follows a NUL of a crash. Throws DataError.
  explicit MetricsLog(std::filesystem::path path);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// Appends {"kind": kind, fields in order}. Doubles are written with the fewest digits that read
  /// back exactly. Non-finite values, which JSON does not have, become the strings "NaN",
  /// "Infinity" and "-Infinity", which Python's float() and JavaScript's Number() accept. Throws
  /// DataError (disk full …).
  void write(std::string_view kind, const Json& fields);
  /// Syncs all records to disk; called before a checkpoint is saved. Throws DataError.
  void sync();

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

/// Truncates the log before the first record with a "step" greater than `step`, or before an
/// incomplete line or one with a NUL, from a block that was lost. A run resumed from the checkpoint
/// of `step` then has the same log as an uninterrupted one. Records without a "step" belong to the
/// preceding record. With `last_kind`, also truncates before the first record of this kind at
/// `step`: those that are written after the checkpoint, and again by the resumed run. Does nothing
/// if the file does not exist. Throws DataError.
void keep_until_step(const std::filesystem::path& path, int64_t step,
                     std::string_view last_kind = {});

}  // namespace attn
