// Checkpoint averaging (section 6.1).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace attn {

struct AverageOptions {
  std::filesystem::path run;
  int64_t last = 5;              ///< number of scheduled checkpoints
  std::filesystem::path output;  ///< empty: RUN/averaged
  bool at_most = false;          ///< average fewer checkpoints if the run has fewer
  /// Last step of a run that has ended but has no result.json yet.
  int64_t last_step = 0;
};

/// Writes the averaged checkpoint; returns "mean of 5 checkpoints, steps 1200 to 2000:
/// runs/tiny/averaged". Throws ConfigError if the run has fewer than `last` checkpoints (with
/// `at_most`, none), and DataError if the output exists and is not an average.
std::string average(const AverageOptions& options);

}  // namespace attn
