#include "report/row_groups.h"

#include <algorithm>
#include <cctype>

namespace attn {
namespace {

constexpr size_t kMaxValueLength = 40;  // bytes
constexpr size_t kMaxOptions = 4;       // in a group's heading

// The letters of a name like "A1" or "E", or of "run1"; empty: not such a name.
std::string letters_of(const std::string& name) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto end = std::find_if_not(name.begin(), name.end(), letter);
  const std::string letters(name.begin(), end);
  const bool plain = letters.size() == 1 || (!letters.empty() && end != name.end());
  return plain && std::all_of(end, name.end(), digit) ? letters : "";
}

// "width" of "width.d_ff=128.heads=4"; empty: not the name of a grid's row.
std::string grid_of(const std::string& name) {
  const size_t equals = name.find('=');
  const size_t dot = equals == std::string::npos ? equals : name.rfind('.', equals);
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

std::string joined_options(const std::vector<std::string>& paths) {
  std::string text;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i == kMaxOptions) return text + " …";
    text.append(i == 0 ? "" : ", ").append(option_name(paths[i]));
  }
  return text;
}

std::vector<std::string> changed_by(const SweepResults& results, const RowGroup& group) {
  std::vector<std::string> paths;
  for (const size_t row : group.rows) {
    for (const std::string& path : results.rows[row].changed) {
      const bool known = std::find(paths.begin(), paths.end(), path) != paths.end();
      if (!known && path != "seed") paths.push_back(path);
    }
  }
  return paths;
}

// "width." if all rows of the group are of the grid width, else "".
std::string grid_prefix(const SweepResults& results, const RowGroup& group) {
  const std::string grid = grid_of(results.rows[group.rows.front()].name);
  const bool all = std::all_of(group.rows.begin(), group.rows.end(),
                               [&](size_t row) { return grid_of(results.rows[row].name) == grid; });
  return grid.empty() || !all ? "" : grid + ".";
}

// Makes the groups with one row one group, at the end.
void merge_single_rows(std::vector<RowGroup>& groups) {
  const auto single = [](const RowGroup& group) { return group.rows.size() == 1 && !group.given; };
  RowGroup others{.name = "other rows", .options = {}, .rows = {}};
  for (const RowGroup& group : groups) {
    if (single(group)) others.rows.push_back(group.rows.front());
  }
  std::erase_if(groups, single);
  if (!others.rows.empty()) groups.push_back(std::move(others));
}

}  // namespace

std::string option_name(const std::string& path) {
  const size_t dot = path.find('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string option_value(const RowRecord& row, const std::string& path) {
  const auto found = row.values.find(path);
  std::string text = found == row.values.end() ? "" : found->second;
  if (text.size() > 1 && text.front() == '"') text = text.substr(1, text.size() - 2);
  if (text.size() <= kMaxValueLength) return text;
  size_t end = kMaxValueLength - 3;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole characters
  return text.substr(0, end) + "…";
}

std::string changed_options(const RowRecord& row) {
  std::string text;
  for (const std::string& path : row.changed) {
    if (path == "seed") continue;
    text.append(text.empty() ? "" : ", ").append(option_name(path));
    text.append(" ").append(option_value(row, path));
  }
  return text;
}

std::string row_words(const RowRecord& row) {
  return row.about.empty() ? changed_options(row) : row.about;
}

bool has_baselines(const SweepResults& results) {
  return std::any_of(results.rows.begin(), results.rows.end(),
                     [](const RowRecord& row) { return row.baseline != 0; });
}

std::string row_hover(const RowRecord& row) {
  std::string text = row.name;
  if (!row.about.empty()) text.append(": ").append(row.about);
  const std::string options = changed_options(row);
  return options.empty() ? text : text + " (" + options + ")";
}

std::vector<RowGroup> row_groups(const SweepResults& results) {
  std::vector<RowGroup> groups;
  std::vector<std::string> keys;
  for (size_t i = 1; i < results.rows.size(); ++i) {
    const RowRecord& row = results.rows[i];
    const std::string letters = letters_of(row.name), grid = grid_of(row.name);
    std::string key = "row " + row.name, name = row.name;
    if (!row.group.empty()) {
      key = "given " + row.group;
      name = row.group;
    } else if (!letters.empty()) {
      key = "letters " + letters;
      name = letters;
    } else if (!grid.empty()) {
      key = "grid " + grid;
      name = grid;
    } else if (!row.changed.empty()) {
      key = "options";
      for (const std::string& path : row.changed) key.append(" ").append(path);
    }
    const auto found = std::find(keys.begin(), keys.end(), key);
    if (found == keys.end()) {
      keys.push_back(key);
      groups.push_back({.name = name, .options = {}, .rows = {i}, .given = !row.group.empty()});
    } else {
      RowGroup& group = groups[static_cast<size_t>(found - keys.begin())];
      group.rows.push_back(i);
      if (key.starts_with("options")) group.name.clear();  // that of its first row only
    }
  }
  if (groups.size() > kMaxGroups) merge_single_rows(groups);
  for (RowGroup& group : groups) {
    group.options = joined_options(changed_by(results, group));
    if (group.name.empty()) std::swap(group.name, group.options);
    group.prefix = grid_prefix(results, group);
  }
  return groups;
}

std::string name_in_group(const RowRecord& row, const RowGroup& group) {
  return row.name.substr(group.prefix.size());
}

}  // namespace attn
