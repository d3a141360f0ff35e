// Descriptions and groups of the rows of a sweep.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"

namespace attn {

/// "heads" for model.heads.
std::string option_name(const std::string& path);

/// A row's value of an option as in the config, without the quotes of a string; "" if it has none.
std::string option_value(const RowRecord& row, const std::string& path);

/// "heads 1, d_k 64": the options in which the row differs from the first one, except the seed.
std::string changed_options(const RowRecord& row);

/// The row's description in the sweep file, else changed_options.
std::string row_words(const RowRecord& row);

/// Whether any row is compared with a row other than the first.
bool has_baselines(const SweepResults& results);

/// The row's name, description and changed options, for a tooltip.
std::string row_hover(const RowRecord& row);

/// Rows that are shown together.
struct RowGroup {
  std::string name;
  std::string options;       ///< that its rows change: "heads, d_k, d_v"; empty: none, or the name
  std::vector<size_t> rows;  ///< indices, in the order of the sweep
  bool given = false;        ///< by the sweep file, with its name
  std::string prefix = {};   ///< common prefix of its rows' names if they are of one grid: "width."
};

/// The groups of all rows but the first, in order of their first rows:
/// - rows with a group in the sweep file;
/// - rows named as in Table 3, by their letters: A1 and A2, B1, E; run1 and run2;
/// - the rows of a grid, which have the name of the grid before ".option=value";
/// - other rows, by the options that they change; alone, a row names its group.
/// If there are more than kMaxGroups groups, those with one row are merged, except given ones.
std::vector<RowGroup> row_groups(const SweepResults& results);
inline constexpr size_t kMaxGroups = 12;

/// The row's name within its group: "d_ff=128" for width.d_ff=128.
std::string name_in_group(const RowRecord& row, const RowGroup& group);

}  // namespace attn
