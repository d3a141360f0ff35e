// The demo: training, search and evaluation in a few minutes, on synthetic data.
#pragma once

#include <filesystem>

#include "app/machine/context.h"

namespace attn {

struct DemoOptions {
  std::filesystem::path config = "experiments/demo.json";              ///< the translator's
  std::filesystem::path parse_config = "experiments/demo_parse.json";  ///< the parser's
  std::filesystem::path sweep = "experiments/demo_sweep.json";         ///< the ablation's
  std::filesystem::path run = "runs/demo";                             ///< output directory
};

/// Generates the corpus, trains (or resumes) the models and evaluates them; returns the exit code.
/// Throws ConfigError and DataError.
int demo(const DemoOptions& options, const Context& context);

}  // namespace attn
