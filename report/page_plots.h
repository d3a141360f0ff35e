// The plots of a sweep's page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/forest_plot.h"
#include "report/plot.h"
#include "report/results.h"
#include "report/row_groups.h"

namespace attn {

/// A small plot with its heading.
struct PlotPanel {
  std::string heading;  ///< "A"
  std::string words;    ///< "heads, d_k, d_v"
  Plot plot;
};

/// The differences of all rows from their baselines, by group. A panel for each metric with
/// differences, scores of outputs first; no panels if there are none.
Forest differences_forest(const SweepResults& results, std::span<const RowComparison> comparisons,
                          std::span<const RowGroup> groups);

/// Learning curves: a panel for each group (several for large ones) with the first row in grey, or
/// one with the first row alone. Lines are means over seeds, bands reach from the lowest to the
/// highest seed. All panels have the same ordinate, from the best row to 1.6 times the result of
/// the worst one that is no outlier: values beyond it are marked at the edge.
std::vector<PlotPanel> learning_curves(const SweepResults& results,
                                       std::span<const RowGroup> groups);

/// BLEU against the share of heads that are masked, the least important first, with the panels of
/// the learning curves; none without runs that have it.
std::vector<PlotPanel> pruning_curves(const SweepResults& results,
                                      std::span<const RowGroup> groups);

/// Each metric against the option that a group varies (numeric_grid).
std::vector<PlotPanel> option_plots(const SweepResults& results,
                                    std::span<const RowComparison> comparisons,
                                    std::span<const RowGroup> groups);

/// The most interesting metric against training FLOPs; without points if these do not differ.
Plot cost_plot(const SweepResults& results, std::span<const RowComparison> comparisons,
               std::span<const RowGroup> groups);

}  // namespace attn
