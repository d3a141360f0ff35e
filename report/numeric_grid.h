// Rows of a group that vary one numeric option: the abscissa of a plot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/results.h"
#include "report/row_groups.h"

namespace attn {

struct NumericGrid {
  struct Entry {
    double value = 0.0;  ///< value of the option
    size_t row = 0;
  };
  struct Series {
    std::string label;           ///< values of the grid's other options: "dropout=0.1"; empty: none
    std::vector<Entry> entries;  ///< by value
  };
  std::string path;  ///< "model.heads"
  std::vector<Series> series;
};

/// The numeric option whose values differ between all rows of the group, or, for a grid of several
/// options, the one with the most values, with a series for each combination of the others. The
/// first row of the sweep is part of a single series if it differs from the group's rows only in
/// options that vary within the group, and its value differs from all of theirs. None for fewer
/// than three values.
std::optional<NumericGrid> numeric_grid(const SweepResults& results, const RowGroup& group);

}  // namespace attn
