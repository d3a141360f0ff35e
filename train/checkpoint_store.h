// The checkpoints of a run: RUN/checkpoints/step-00000500/ etc., each created atomically, and the
// file `best` with the name of one of them. Lists, verifies and deletes checkpoints. Their files
// are written by train/checkpoint; a model with its config and tokenizers is loaded by
// app/experiment/checkpoint.
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

/// Written by save_weights and save_training_state.
inline constexpr std::string_view kWeightsFile = "model.safetensors";
inline constexpr std::string_view kTrainingStateFile = "optimizer.safetensors";
/// Written by save_evaluation.
inline constexpr std::string_view kEvaluationFile = "evaluation.safetensors";

/// The files needed to resume. A checkpoint also has its tokenizers.
inline constexpr std::array<std::string_view, 3> checkpoint_files = {
    kWeightsFile, kTrainingStateFile, "config.json"};

struct StoredCheckpoint {
  int64_t step = 0;
  std::filesystem::path path;
};

struct BestCheckpoint {
  StoredCheckpoint checkpoint;
  double score = 0.0;  ///< as given to mark_best
};

/// Scheduled checkpoints: those that every run of the config saves. Others (a new best, every
/// checkpoint_minutes, at a signal) are kept only while they are the best or the newest, and never
/// averaged.
struct CheckpointSchedule {
  int64_t every = 1;
  int64_t end = 0;  ///< the last step of the run

  bool has(int64_t step) const { return step > 0 && (step % every == 0 || step == end); }
  /// The scheduled step before `step`.
  int64_t before(int64_t step) const { return (step - 1) / every * every; }
};

/// The schedule of a run that finished at `last_step`, e.g. by early stopping; 0: not finished.
CheckpointSchedule checkpoint_schedule(const TrainConfig& config, int64_t last_step);

/// The directory of the checkpoint after `step` >= 0 updates: `checkpoints`/step-00000500.
std::filesystem::path checkpoint_path(const std::filesystem::path& checkpoints, int64_t step);

/// All checkpoints, sorted by step; empty without a folder. Throws DataError if it cannot be read.
std::vector<StoredCheckpoint> list_checkpoints(const std::filesystem::path& checkpoints);

/// The last consecutive scheduled checkpoints, sorted by step: without an older one that was kept
/// as the best. Throws like list_checkpoints().
std::vector<StoredCheckpoint> scheduled_checkpoints(const std::filesystem::path& checkpoints,
                                                    const CheckpointSchedule& schedule);

/// What is verified of a .safetensors file: its header and size, or its checksum, too, for which
/// all of it is read.
enum class Verified { header, tensors };

/// Throws DataError for the first of `files` that is missing, empty or an invalid .safetensors.
void verify_checkpoint(const std::filesystem::path& checkpoint,
                       std::span<const std::string_view> files = checkpoint_files,
                       Verified verified = Verified::tensors);

/// The newest valid checkpoint (verify_checkpoint). Throws like list_checkpoints(), and DataError
/// if a file may not be read, which does not make a checkpoint invalid.
std::optional<StoredCheckpoint> latest_checkpoint(const std::filesystem::path& checkpoints);

/// The file written by mark_best.
std::filesystem::path best_mark(const std::filesystem::path& checkpoints);

/// Atomically marks the checkpoint of `step` as the best. Throws DataError if it does not exist.
void mark_best(const std::filesystem::path& checkpoints, int64_t step, double score);

/// The marked checkpoint, if any and if it still exists. Throws DataError for an invalid mark.
std::optional<BestCheckpoint> best_checkpoint(const std::filesystem::path& checkpoints);

/// Deletes all checkpoints but the last `keep_last` scheduled ones, the newest and the best; 0
/// keeps all. A checkpoint is renamed before its files are deleted, so that an incomplete one is
/// never used. Throws DataError.
void prune_checkpoints(const std::filesystem::path& checkpoints, const CheckpointSchedule& schedule,
                       int64_t keep_last);

}  // namespace attn
