// Resolves a model argument (a checkpoint, a run, RUN@best) and finds where a run resumes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/experiment/run_directory.h"
#include "train/checkpoint_store.h"

namespace attn {

/// Help text of the model argument.
inline constexpr const char* kModelArgument =
    "run, RUN@best, RUN@last, RUN@average, RUN@STEP, or checkpoint directory; for a run: the "
    "average if it exists, else the best checkpoint, else the last";

/// A path such as "runs/base@best", split at the '@'.
struct CheckpointSelector {
  std::filesystem::path run;
  std::string which;  ///< the text after the '@', unchecked
};

/// Parses a selector. std::nullopt if `path` exists, if its last component has no '@', or if the
/// part before the '@' does not exist.
std::optional<CheckpointSelector> checkpoint_selector(const std::filesystem::path& path);

/// The step of a selector; std::nullopt for "best", "last" and "average". Throws ConfigError, which
/// lists the run's checkpoints, for anything else.
std::optional<int64_t> selected_step(const CheckpointSelector& selector);

/// The checkpoint directory to load for `path`: a checkpoint itself, the checkpoint of a selector,
/// or for a run the average if it exists, else the best checkpoint, else the last. Throws
/// ConfigError or DataError, which lists the run's checkpoints.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

/// Throws ConfigError naming the run if `path` is a checkpoint, a run's checkpoint directory or a
/// selector such as RUN@best instead of a run.
void require_no_checkpoint(const std::filesystem::path& path);

/// The newest checkpoint whose files are whole and have their checksums; std::nullopt before the
/// first. Throws DataError if none of the checkpoints is valid, or if a run with a result has none.
std::optional<StoredCheckpoint> checkpoint_to_resume(const RunDirectory& run);

}  // namespace attn
