// The mean of a run's last checkpoints (section 6.1), as a directory that a model is loaded from.
#pragma once

#include <cstdint>
#include <filesystem>

namespace attn {

struct AverageOptions {
  std::filesystem::path run;     ///< or RUN@STEP: the last checkpoint that goes into the average
  int64_t last = 5;              ///< how many checkpoints, of those saved by counting steps
  std::filesystem::path output;  ///< empty: RUN/averaged
};

/// Writes the average and says so on stderr. Throws ConfigError where the run has fewer checkpoints
/// and DataError where the output is something else.
void average(AverageOptions options);

}  // namespace attn
