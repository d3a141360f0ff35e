// The dry run: cost estimates of a sweep.
#pragma once

#include <string>

#include "app/sweep/plan.h"

namespace attn {

struct DryRunOptions {
  bool measure = true;    ///< time and memory from some seconds of training each row
  double seconds = 3.0;   ///< a row
  double budget = 120.0;  ///< of measuring, in all; rows that do not fit are predicted. 0: none are
  std::string device = "auto";
  int64_t threads = 1;
  int64_t jobs = 1;
};

/// Throws ConfigError naming the rows whose parameters differ from the paper's by more than
/// rounding, at the vocabulary that the file names (paper_vocabulary); nothing without one.
void check_parameters(const SweepPlan& plan);

/// Prints, for each row, differences from the first one, parameters (and the paper's), training
/// FLOPs, estimated time and memory, and the totals. Throws as check_parameters, after printing.
void dry_run(const SweepPlan& plan, const DryRunOptions& options);

}  // namespace attn
