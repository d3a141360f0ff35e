// The content of a checkpoint's two files: weights, and what going on exactly takes. Both are
// safetensors: no code is ever loaded, and every bound is checked. Which checkpoints there are is
// train/checkpoint_store's; a model with its config and tokenizers is loaded by
// app/experiment/checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernels/libtorch.h"
#include "model/transformer/transformer.h"
#include "train/trainer.h"

namespace attn {

/// Writes every parameter under its name, float32. Throws DataError.
void save_weights(const std::filesystem::path& path, const torch::nn::Module& model,
                  const std::map<std::string, std::string>& metadata = {});

/// Reads what save_weights wrote, in this version or an earlier one, into the model, which must
/// have exactly these parameters. Throws DataError naming the first tensor that is missing, unknown
/// or of another shape or type.
void load_weights(const std::filesystem::path& path, torch::nn::Module& model);

/// The mean of several checkpoints' weights (section 6.1), written to `out`. Throws DataError when
/// they differ in names or shapes, or when there are none.
void average_weights(const std::vector<std::filesystem::path>& inputs,
                     const std::filesystem::path& out);

/// Adam's moments by parameter name, with the state as metadata. Throws DataError.
void save_training_state(const std::filesystem::path& path, Trainer& trainer);

/// Puts back what save_training_state wrote. Throws DataError for a truncated, foreign or
/// mismatched file.
void load_training_state(const std::filesystem::path& path, Trainer& trainer);

}  // namespace attn
