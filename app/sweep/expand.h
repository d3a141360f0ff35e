// Rows of a sweep file, with their grids expanded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/sweep/sweep_file.h"

namespace attn {

/// Runs that a sweep may have, and rows that a grid may expand to.
inline constexpr size_t kMaxSweepRuns = 10'000;

/// A row of the file, or one combination of its grid, and its patches on the base, in order.
struct ExpandedRow {
  SweepRow row;
  std::vector<Json> patches;
};

/// Expands the grid of a row: one row per combination, the last path varying fastest. Tags are set
/// before all else, since that removes or resets options of other tags. Throws ConfigError for more
/// than kMaxSweepRuns combinations, and for a tag in both grid and set.
std::vector<ExpandedRow> expand(const SweepRow& row);

/// The baseline of each row, by default the first. Throws ConfigError for an unknown one and for a
/// cycle.
std::vector<size_t> resolve_baselines(const std::vector<ExpandedRow>& rows);

}  // namespace attn
