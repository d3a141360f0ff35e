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

/// The checkpoint directory to load for `path`: a checkpoint itself, RUN@best, RUN@last,
/// RUN@average or RUN@STEP, or for a run the average if it exists, else the best checkpoint, else
/// the last. Throws ConfigError or DataError.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

/// The newest checkpoint whose files are whole and have their checksums; std::nullopt before the
/// first. Throws DataError if none of the checkpoints is valid, or if a run with a result has none.
std::optional<StoredCheckpoint> checkpoint_to_resume(const RunDirectory& run);

}  // namespace attn
