#pragma once

#include <filesystem>
#include <memory>

#include "eval/tasks/evaluator.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

/// Reads the text; `search` is the experiment's. Throws ConfigError if none is given and DataError
/// for a missing or invalid file.
std::unique_ptr<Evaluator> make_evaluator(const EvaluatorConfig& config, const SearchConfig& search,
                                          const DataConfig& data, const Tokenizers& tokenizers,
                                          const std::filesystem::path& cache);

}  // namespace attn
