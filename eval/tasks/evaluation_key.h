#pragma once

#include <string>

#include "data/text_hashes.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

/// The key of what an evaluator reads; empty where it is not there.
std::string evaluation_key(const EvaluatorConfig& config, const DataConfig& data,
                           TextHashes& hashes);

}  // namespace attn
