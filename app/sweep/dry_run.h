// The dry run: cost estimates of a sweep.
#pragma once

#include <string>

#include "app/sweep/plan.h"

namespace attn {

struct DryRunOptions {
  bool measure = true;    ///< measure time and memory by training each row for a few seconds
  double seconds = 3.0;   ///< seconds of measurement per row
  double budget = 120.0;  ///< seconds in total; rows beyond it are predicted. 0: measure every row
  std::string device = "auto";
  int64_t threads = 1;
  int64_t jobs = 1;
};

/// Throws ConfigError naming the rows whose number of parameters, with a vocabulary of
/// paper_vocabulary tokens, differs from the paper's by more than rounding. Without
/// paper_vocabulary there is no check.
void check_parameters(const SweepPlan& plan);

/// Prints for each row the parameters (and the paper's), training FLOPs, estimated time and memory
/// and the differences from the first row; then the totals. Throws as check_parameters, after
/// printing.
void dry_run(const SweepPlan& plan, const DryRunOptions& options);

}  // namespace attn
