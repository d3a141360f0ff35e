#include "report/numeric_grid.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/parse_number.h"

namespace attn {
namespace {

constexpr size_t kMinValues = 3;  // values

std::optional<double> number_of(const RowRecord& row, const std::string& path) {
  const auto value = parse_number<double>(option_value(row, path));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// The different values of an option in a group; empty if one isn't a number.
std::set<double> values_of(const SweepResults& results, const RowGroup& group,
                           const std::string& path) {
  std::set<double> values;
  for (const size_t row : group.rows) {
    const auto value = number_of(results.rows[row], path);
    if (!value) return {};
    values.insert(*value);
  }
  return values;
}

// Options that a row of the group changes.
std::vector<std::string> changed_paths_of(const SweepResults& results, const RowGroup& group) {
  std::vector<std::string> paths;
  for (const size_t row : group.rows) {
    for (const std::string& path : results.rows[row].changed) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
  }
  return paths;
}

// Whether all rows are about this option: they change it, or are of a grid, some of whose rows may
// have the first row's value.
bool is_theirs(const SweepResults& results, const RowGroup& group, const std::string& path) {
  return std::all_of(group.rows.begin(), group.rows.end(), [&](size_t i) {
    const RowRecord& row = results.rows[i];
    return row.name.find('=') != std::string::npos ||
           std::find(row.changed.begin(), row.changed.end(), path) != row.changed.end();
  });
}

bool varies(const SweepResults& results, const RowGroup& group, const std::string& path) {
  const std::string first = option_value(results.rows[group.rows.front()], path);
  return std::any_of(group.rows.begin(), group.rows.end(),
                     [&](size_t row) { return option_value(results.rows[row], path) != first; });
}

// The parts "heads=4" of a grid row's name, without that of one option.
std::string other_parts(const std::string& name, const std::string& option) {
  std::string text;
  for (size_t begin = 0; begin < name.size();) {
    const size_t equals = name.find('=', begin);
    if (equals == std::string::npos) break;
    // A dot in a value ("0.1") isn't followed by an option's name.
    const size_t next = name.find('=', equals + 1);
    const size_t end = next == std::string::npos ? name.size() : name.rfind('.', next);
    if (name.substr(begin, equals - begin) != option) {
      text.append(text.empty() ? "" : ", ").append(name, begin, end - begin);
    }
    begin = end + 1;
  }
  return text;
}

void add(NumericGrid& grid, const std::string& label, const NumericGrid::Entry& entry) {
  auto found = std::find_if(grid.series.begin(), grid.series.end(),
                            [&](const auto& series) { return series.label == label; });
  if (found == grid.series.end()) {
    grid.series.push_back({.label = label, .entries = {}});
    found = grid.series.end() - 1;
  }
  found->entries.push_back(entry);
}

// Whether the first row belongs to the series of this option.
bool fits_first_row(const SweepResults& results, const RowGroup& group, const std::string& path,
                    const std::set<double>& values) {
  const auto value = number_of(results.rows.front(), path);
  if (!value || values.contains(*value)) return false;
  const auto paths = changed_paths_of(results, group);
  return std::all_of(paths.begin(), paths.end(), [&](const std::string& other) {
    return other == "seed" || varies(results, group, other) || group.rows.size() == 1;
  });
}

}  // namespace

std::optional<NumericGrid> numeric_grid(const SweepResults& results, const RowGroup& group) {
  NumericGrid grid;
  std::set<double> best;
  for (const std::string& path : changed_paths_of(results, group)) {
    auto values = values_of(results, group, path);
    if (path == "seed" || values.size() <= best.size()) continue;
    if (!is_theirs(results, group, path)) continue;
    grid.path = path;
    best = std::move(values);
  }
  const bool single = best.size() == group.rows.size();
  const bool first = single && fits_first_row(results, group, grid.path, best);
  if (best.size() + (first ? 1 : 0) < kMinValues) return {};
  const std::string option = grid.path.substr(grid.path.rfind('.') + 1);
  for (const size_t row : group.rows) {
    const std::string name = name_in_group(results.rows[row], group);
    if (!single && name.find('=') == std::string::npos) return {};  // not a grid
    add(grid, single ? "" : other_parts(name, option),
        {*number_of(results.rows[row], grid.path), row});
  }
  if (first) add(grid, "", {*number_of(results.rows.front(), grid.path), 0});
  for (NumericGrid::Series& series : grid.series) {
    std::sort(series.entries.begin(), series.entries.end(),
              [](const auto& a, const auto& b) { return a.value < b.value; });
  }
  return grid;
}

}  // namespace attn
