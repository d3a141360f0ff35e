// A run's folder of checkpoints: RUN/checkpoints/step-00000500/ and so on, each a directory that
// appeared whole, and the file `best`, which names one of them: which there are, which to keep,
// whether one is whole. The content of their files is train/checkpoint's; a model with its config
// and tokenizers is loaded by app/experiment/checkpoint.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "train/config.h"

namespace attn {

/// What train/checkpoint writes: save_weights, save_training_state.
inline constexpr std::string_view kWeightsFile = "model.safetensors";
inline constexpr std::string_view kTrainingStateFile = "optimizer.safetensors";

/// What a run needs to go on. A checkpoint may hold more, such as its tokenizer.
inline constexpr std::array<std::string_view, 3> checkpoint_files = {
    kWeightsFile, kTrainingStateFile, "config.json"};

struct StoredCheckpoint {
  int64_t step = 0;
  std::filesystem::path path;
};

struct BestCheckpoint {
  StoredCheckpoint checkpoint;
  double score = 0.0;  ///< as given to mark_best; whether more is better is the caller's to know
};

/// Which checkpoints an undisturbed run saves by counting steps. All others (at a new best, after
/// some minutes, at a signal) depend on chance or serve one purpose: they are kept while they are
/// the best or what to go on from, and never averaged.
struct CheckpointSchedule {
  int64_t every = 1;
  int64_t end = 0;  ///< the run's last step, whether or not `every` divides it

  bool has(int64_t step) const { return step > 0 && (step % every == 0 || step == end); }
  /// The scheduled step before `step`.
  int64_t before(int64_t step) const { return (step - 1) / every * every; }
};

/// The schedule of a run. It ends with `last_step` where it has finished there (it may be out of
/// patience), and with the config's last step where that is 0.
CheckpointSchedule checkpoint_schedule(const TrainConfig& config, int64_t last_step);

/// The directory of the checkpoint after `step` >= 0 updates: `checkpoints`/step-00000500.
std::filesystem::path checkpoint_path(const std::filesystem::path& checkpoints, int64_t step);

/// All checkpoints, sorted by step; empty when there is no folder yet. Throws DataError when it
/// cannot be read.
std::vector<StoredCheckpoint> list_checkpoints(const std::filesystem::path& checkpoints);

/// The last scheduled checkpoints, sorted by step, as many as follow each other without a gap: an
/// older one that is still there because it was the best is not among them. Throws DataError as
/// list_checkpoints does.
std::vector<StoredCheckpoint> scheduled_checkpoints(const std::filesystem::path& checkpoints,
                                                    const CheckpointSchedule& schedule);

/// Throws DataError naming the first of `files` that is missing, empty or, if it is a .safetensors,
/// broken.
void verify_checkpoint(const std::filesystem::path& checkpoint,
                       std::span<const std::string_view> files = checkpoint_files);

/// The newest checkpoint that verify_checkpoint accepts. Throws DataError as list_checkpoints does.
std::optional<StoredCheckpoint> latest_checkpoint(
    const std::filesystem::path& checkpoints,
    std::span<const std::string_view> files = checkpoint_files);

/// The file in which mark_best writes.
std::filesystem::path best_mark(const std::filesystem::path& checkpoints);

/// Atomically makes the checkpoint of `step` the best. Throws DataError when it does not exist.
void mark_best(const std::filesystem::path& checkpoints, int64_t step, double score);

/// The one marked last, nothing when none is or when it was deleted by hand. Throws DataError for a
/// broken mark.
std::optional<BestCheckpoint> best_checkpoint(const std::filesystem::path& checkpoints);

/// Deletes all checkpoints but the last `keep_last` scheduled ones, the newest of all and the best;
/// 0 keeps all, as the config says. A checkpoint loses its name before its files, so that one being
/// deleted is never taken for a whole one. Throws DataError.
void prune_checkpoints(const std::filesystem::path& checkpoints, const CheckpointSchedule& schedule,
                       int64_t keep_last);

/// Removes what a killed process left half written or half deleted. Only for the process that
/// trains the run: it would take the checkpoint that another is just writing. Throws DataError.
void remove_checkpoint_leftovers(const std::filesystem::path& checkpoints);

}  // namespace attn
