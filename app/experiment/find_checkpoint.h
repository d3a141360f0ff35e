// Resolves a model argument to a checkpoint: a checkpoint, a run, or a selector such as RUN@best.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attn {

/// Help text of the model argument.
inline constexpr const char* kModelArgument =
    "run, RUN@best, RUN@last, RUN@average, RUN@STEP, or checkpoint directory; for a run: the "
    "average if it exists, else the best checkpoint, else the last";

/// Help text of the option --tag.
inline constexpr const char* kTagHelp =
    "tag of the sentences, one of data.tag and data.sources (default: data.tag)";

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

/// Whether `path` is the file RUN/checkpoints/best, which names the best checkpoint.
bool is_best_mark(const std::filesystem::path& path);

/// The checkpoint directory to load for `path`: a checkpoint itself, the checkpoint of a selector,
/// or for a run the average if it exists, else the best checkpoint, else the last. The file
/// RUN/checkpoints/best selects the best checkpoint. Throws ConfigError or DataError, which lists
/// the run's checkpoints.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

}  // namespace attn
