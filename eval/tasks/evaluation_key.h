#pragma once

#include <string>

#include "data/text_hashes.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

/// Key of the files that an evaluator reads; empty if one is missing.
std::string evaluation_key(const EvaluatorConfig& config, const DataConfig& data,
                           TextHashes& hashes);

}  // namespace attn
