// The demo: from nothing to a BLEU score in a few minutes, on sentences that the project makes
// itself.
#pragma once

#include <filesystem>

#include "app/machine/context.h"

namespace attn {

struct DemoOptions {
  std::filesystem::path config = "experiments/demo.json";              ///< the translator's
  std::filesystem::path parse_config = "experiments/demo_parse.json";  ///< the parser's
  std::filesystem::path sweep = "experiments/demo_sweep.json";         ///< the ablation's
  std::filesystem::path run = "runs/demo";  ///< the directory of all that it makes
};

/// Makes the corpus, trains what was not trained before, shows and scores it; returns the exit
/// code. Throws ConfigError and DataError.
int demo(const DemoOptions& options, const Context& context);

}  // namespace attn
