// The files of a run directory (docs/reference/run-directory.md), its lock, and what kind of
// directory or file a path is: one that was given to the wrong command is named for what it is, and
// nothing is written over what this program has not written. The names inside RUN/checkpoints are
// in train/checkpoint_store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_patch.h"
#include "train/checkpoint_store.h"

namespace attn {

/// File name of the resolved experiment in a run or a checkpoint.
inline constexpr const char* kConfigFile = "config.json";

/// Largest config that is read, in bytes: it may come from anywhere.
inline constexpr int64_t kMaxConfigBytes = 1 << 24;

/// A directory with a model, self-contained and movable: a run, a checkpoint or an average.
class ModelDirectory {
 public:
  // Not explicit, so that a path can be passed. "runs/one/" is "runs/one".
  ModelDirectory(const std::filesystem::path& path)
      : path_(path.has_filename() ? path : path.parent_path()) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / kConfigFile; }
  std::filesystem::path shared_tokenizer() const { return path_ / "tokenizer.model"; }
  std::filesystem::path source_tokenizer() const { return path_ / "source.model"; }
  std::filesystem::path target_tokenizer() const { return path_ / "target.model"; }
  std::filesystem::path tags() const { return path_ / "tags.txt"; }
  std::filesystem::path features() const { return path_ / "features.txt"; }
  std::filesystem::path pieces() const { return path_ / "pieces.model"; }
  std::filesystem::path weights() const { return path_ / kWeightsFile; }
  std::filesystem::path training_state() const { return path_ / kTrainingStateFile; }
  std::filesystem::path evaluation() const { return path_ / kEvaluationFile; }

  bool has_config() const { return std::filesystem::exists(config()); }
  bool has_weights() const { return std::filesystem::exists(weights()); }

 private:
  std::filesystem::path path_;
};

class RunDirectory : public ModelDirectory {
 public:
  using ModelDirectory::ModelDirectory;

  /// The run that contains a checkpoint; the checkpoint itself if it is not inside a run.
  static RunDirectory of_checkpoint(const std::filesystem::path& checkpoint);
  std::filesystem::path run_file() const { return path() / "run.json"; }
  std::filesystem::path log() const { return path() / "log.txt"; }
  std::filesystem::path metrics() const { return path() / "metrics.jsonl"; }
  std::filesystem::path result() const { return path() / "result.json"; }
  std::filesystem::path heads() const { return path() / "heads.json"; }
  std::filesystem::path change() const { return path() / "change.txt"; }
  std::filesystem::path checkpoints() const { return path() / "checkpoints"; }
  std::filesystem::path averaged() const { return path() / "averaged"; }
  std::filesystem::path cache() const { return path() / "cache"; }
  std::filesystem::path lock() const { return path() / "lock"; }
  /// The output file of an evaluator, relative to the run: "eval/valid-500.txt".
  static std::string output_name(const std::string& evaluator, int64_t step) {
    return "eval/" + evaluator + "-" + std::to_string(step) + ".txt";
  }
  std::filesystem::path output(const std::string& evaluator, int64_t step) const {
    return path() / output_name(evaluator, step);
  }
  /// The folder of all of them.
  std::filesystem::path outputs() const { return path() / "eval"; }

  /// Whether it has a config, a result or a checkpoint, even an incomplete one.
  bool has_run() const { return has_config() || has_trained(); }
  /// Whether it has a checkpoint or a result.
  bool has_trained() const;
};

/// RAII lock on DIRECTORY/lock by flock, which the system releases when the process ends, however
/// it ends. On NFS it excludes other machines, too. Where the file system has no locks, a warning
/// says so.
class RunLock {
 public:
  /// Creates the directory if missing. Throws UserError (busy), naming the process, if another one
  /// still holds the lock after `wait_seconds`, and DataError if the directory is not writable.
  explicit RunLock(const std::filesystem::path& directory, double wait_seconds = 0.0);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_ = -1;
};

/// File name of the resolved plan in a sweep directory.
inline constexpr const char* kSweepFile = "sweep.json";

enum class InputKind { other, config, sweep, run, sweep_directory, checkpoint };

/// `sweep_directory`: or its sweep.json. `other` includes what does not exist.
InputKind kind_of(const std::filesystem::path& path);

/// Throws ConfigError if the path is of a kind other than these, which says what to do with it.
/// Says nothing of `other`: whoever reads it does.
void require_input(const std::filesystem::path& path, const std::vector<InputKind>& expected);

/// Throws ConfigError if a run or a sweep cannot be written into `directory`: it exists, is not
/// empty, and attn has not written it.
void require_place(const std::filesystem::path& directory, InputKind kind);

/// Help text of the model argument.
inline constexpr const char* kModelArgument =
    "run, RUN@best, RUN@last, RUN@average, RUN@STEP, or checkpoint directory; for a run: the "
    "average if it exists, else the best checkpoint, else the last";

/// The checkpoint directory to load for `path`: a checkpoint itself, RUN@best, RUN@last,
/// RUN@average or RUN@STEP, or for a run the average if it exists, else the best checkpoint, else
/// the last. Throws ConfigError or DataError.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

}  // namespace attn
