// The files of a checkpoint: weights and training state, both in safetensors, with a checksum of
// the tensors in the metadata that is verified when a file is read, and the results of evaluations.
// The directory of checkpoints is managed by train/checkpoint_store; a model with its config and
// tokenizers is loaded by app/experiment/checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/libtorch.h"
#include "train/trainer.h"

namespace attn {

/// Writes every parameter by name, in float32. Throws DataError.
void save_weights(const std::filesystem::path& path, const torch::nn::Module& model,
                  const std::map<std::string, std::string>& metadata = {});

/// Reads what save_weights wrote into the model, which must have exactly these parameters. Throws
/// DataError naming the first tensor that is missing, unknown, not finite, or has a different shape
/// or type.
void load_weights(const std::filesystem::path& path, torch::nn::Module& model);

/// Parameters that cannot be loaded from another model's weights by name and shape alone.
struct InitialWeights {
  /// Not loaded: they belong to another vocabulary.
  std::set<std::string> excluded;
  /// Matrices that may have more rows than the file: the first ones are loaded.
  std::set<std::string> extended;
};

struct WeightsLoaded {
  int64_t parameters = 0;  ///< parameters of the model
  int64_t loaded = 0;      ///< those that were loaded, completely or in their first rows
  /// One line for each parameter or tensor that does not fit.
  std::vector<std::string> notes;
};

/// Reads the weights of a checkpoint into a model that may differ from it: what fits is loaded, all
/// else stays. Throws DataError for an invalid file.
WeightsLoaded load_fitting_weights(const std::filesystem::path& path, torch::nn::Module& model,
                                   const InitialWeights& initial);

/// Checkpoint averaging (section 6.1): writes the mean of the weights to `out`. Throws DataError if
/// names or shapes differ, or without inputs.
void average_weights(const std::vector<std::filesystem::path>& inputs,
                     const std::filesystem::path& out);

/// The optimizer's state by parameter name (with train.ema also the weights, of which the weights
/// file has the average), with the state as metadata. `whole`: collect_state() of the trainer.
/// Throws DataError.
void save_training_state(const std::filesystem::path& path, Trainer& trainer,
                         const OptimizerState& whole);

/// Restores what save_training_state wrote, after load_weights: the optimizer's state into `whole`,
/// collect_state() of the trainer, which for a single process is the optimizer's own. Throws
/// DataError for an invalid or mismatched file.
void load_training_state(const std::filesystem::path& path, Trainer& trainer,
                         const OptimizerState& whole);

/// Adds to a checkpoint what the evaluations of its step set in the state, if they were made after
/// it was saved (TrainState::evaluation_pending): metadata without tensors. Throws DataError.
void save_evaluation(const std::filesystem::path& path, const TrainState& state);
/// Restores what save_evaluation wrote. Throws DataError for an invalid file.
void load_evaluation(const std::filesystem::path& path, TrainState& state);

}  // namespace attn
