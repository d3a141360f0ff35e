// The dry run: cost estimates of a sweep.
#pragma once

#include <filesystem>
#include <optional>

#include "app/sweep/costs.h"
#include "app/sweep/plan.h"

namespace attn {

/// Throws ConfigError naming the rows whose number of parameters, with a vocabulary of
/// paper_vocabulary tokens, differs from the paper's by more than rounding. Without
/// paper_vocabulary there is no check.
void check_parameters(const SweepPlan& plan);

/// Prints for each row the parameters (and the paper's), training FLOPs, estimated time and memory
/// and the differences from the first row; then the totals, and those of the runs that are not yet
/// finished in the sweep directory or the collection (empty: none). std::nullopt: measures nothing,
/// so that FLOPs, time and memory are unknown. Prints nothing if a stop signal (catch_stop_signals)
/// ends the measurement. Throws like check_parameters(), after printing.
void dry_run(const SweepPlan& plan, const std::optional<CostOptions>& options,
             const std::filesystem::path& collection);

}  // namespace attn
