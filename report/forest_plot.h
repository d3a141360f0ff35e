// Forest plots: the differences of all rows from their baselines, with intervals, beside published
// ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/statistics.h"
#include "report/svg.h"

namespace attn {

struct Forest {
  struct Row {
    std::string name;
    std::string words;  ///< what it is
    std::string hover;
    bool new_group = false;    ///< set off from the row before
    std::string heading = {};  ///< heading of the group that begins here; empty: none
  };
  /// One row in one metric.
  struct Cell {
    std::optional<double> ours;
    std::optional<Interval> interval;
    std::optional<double> paper;
    bool significant = false;
    Colour colour = "faint";
    std::string state;  ///< shown if there is no difference: "failed"
  };
  struct Panel {
    std::string metric;  ///< "BLEU"
    std::string title;   ///< "BLEU, test2016"
    std::string base;    ///< "base 35.90 ± 0.31"
    bool lower_is_better = false;
    int paper_decimals = 1;
    std::vector<Cell> cells;  ///< one per row
  };
  std::vector<Row> rows;
  std::vector<Panel> panels;
};

/// All panels side by side, 1,240 pixels wide. Better is always to the right. An outlier does not
/// stretch the axis (robust_range): it is an arrow at the edge, with its value.
std::string wide_forest(const Forest& forest);

/// One panel, 360 pixels wide, with the rows' names and descriptions above their intervals.
std::string narrow_forest(const Forest& forest, const Forest::Panel& panel);

}  // namespace attn
