// Which checkpoint a path on the command line names: a checkpoint, a run, or RUN@best and the like.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attn {

/// For the help of every command that loads a model.
inline constexpr const char* kModelArgument =
    "a run, RUN@best, RUN@last, RUN@average, RUN@STEP, or a checkpoint's directory; of a run alone "
    "its average if there is one, else its best checkpoint, else its last";

/// "runs/base@best" in its parts.
struct CheckpointSelector {
  std::filesystem::path run;
  std::string which;  ///< behind the '@', whatever it is
};

/// Nothing where `path` exists, has no '@' in its last part, or what precedes that does not exist.
std::optional<CheckpointSelector> checkpoint_selector(const std::filesystem::path& path);

/// The step of a selector; nothing where it is a word. Throws ConfigError, with what the run has,
/// for one that is neither a step nor a word of kModelArgument.
std::optional<int64_t> selected_step(const CheckpointSelector& selector);

/// The directory to load for `path`: itself when it is a checkpoint; what a selector names; of a
/// run its averaged weights if there are any, else its best checkpoint, else its last. The file
/// RUN/checkpoints/best stands for the checkpoint that it names. Throws ConfigError or DataError
/// saying what was looked for and what the run has.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

}  // namespace attn
