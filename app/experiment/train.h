// `attn train`: trains or resumes a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/machine/device.h"

namespace attn {

struct TrainOptions {
  std::filesystem::path path;           ///< config file, or with `resume` a run directory
  std::filesystem::path run;            ///< run directory; empty: runs/<config's name>, or `path`
  bool resume = false;                  ///< resume from the newest checkpoint
  std::vector<Assignment> changes;      ///< of kChangeable, from there on
  double patience = 0.0;                ///< seconds to wait for the lock
  std::vector<Assignment> assignments;  ///< applied after the config
};

/// Trains the run unless it is finished. Returns the exit code. Throws ConfigError, DataError and
/// NonFiniteLoss.
int train(const TrainOptions& options, const Context& context);

}  // namespace attn
