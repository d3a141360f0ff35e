// `attn train`: an experiment from its config to its last checkpoint, or on from where it was
// interrupted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/machine/context.h"

namespace attn {

struct TrainOptions {
  std::filesystem::path path;            ///< a config, or with `resume` a run
  std::filesystem::path run;             ///< its directory; empty: runs/<config's name>, or `path`
  bool resume = false;                   ///< from the newest checkpoint
  double patience = 0.0;                 ///< seconds to wait for another process in the directory
  std::vector<std::string> assignments;  ///< path=value, applied after the config
};

/// Trains, or says on stderr that the run has finished; returns the exit code. Throws ConfigError,
/// DataError and NonFiniteLoss.
int train(const TrainOptions& options, const Context& context);

}  // namespace attn
