#include "app/sweep/sweep_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/experiment/resume.h"
#include "app/experiment/run_directory.h"
#include "base/check.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/format.h"

namespace attn {
namespace {

constexpr size_t kMaxNameLength = 80, kMaxGridValues = 1000;

constexpr std::array<std::string_view, 13> kSweepFiles = {
    "cache",      "vocabulary",  "sweep.json", "report.md", "report.html", "rows.csv", "runs.csv",
    "curves.csv", "report.json", "table.tex",  "tune",      "figures",     "slurm.sh"};

// Whether a row's name can be a folder's: no separators, no white space, not hidden.
bool is_row_name(const std::string& name) {
  constexpr const char* kAllowed =
      "-_.=+0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !name.empty() && name.size() <= kMaxNameLength && name.front() != '.' &&
         name.front() != '-' && name.find_first_not_of(kAllowed) == name.npos;
}

void validate_grid(const Json& grid, const std::string& place) {
  require(grid.is_object(), place, grid.dump(), "must be an object of paths and arrays of values");
  for (const auto& [path, values] : grid.items()) {
    require(path != "seed", place + ".seed", values.dump(), "belongs in \"seeds\"");
    require(values.is_array() && !values.empty() && values.size() <= kMaxGridValues,
            place + "." + path, values.dump(), "must be an array of 1 to 1000 values");
  }
}

void validate_row(const SweepRow& row, const std::string& place) {
  const std::string quoted = "\"" + row.name + "\"";
  require(is_row_name(row.name), place + ".name", quoted,
          "must be a directory name: letters, digits and . _ = + -, at most 80, no leading . or -");
  require(std::ranges::find(kSweepFiles, row.name) == kSweepFiles.end() &&
              !row.name.ends_with(".tuned"),
          place + ".name", quoted, "is a name of the sweep's own files or rows; choose another");
  require_between(place + ".seeds", row.seeds, 0, kMaxSeeds);
  require(row.set.is_object(), place + ".set", row.set.dump(), "must be an object");
  validate_grid(row.grid, place + ".grid");
  require(row.diff.empty() || row.binary.empty(), place + ".binary", "\"" + row.binary + "\"",
          "is another program than that of \"diff\"; keep one of them");
  for (const char* key : {"base", "seed"}) {
    require(!row.set.contains(key), place + ".set." + key, row.set.value(key, Json()).dump(),
            std::string("belongs in \"") + (key[0] == 'b' ? "patch" : "seeds") + "\"");
  }
  for (const auto& [path, values] : row.grid.items()) {
    require(!values_by_path(row.set).contains(path), place + ".grid." + path, values.dump(),
            "\"set\" also sets it; keep one of them");
  }
}

// "heads=4" for model.heads; other values are numbered.
std::string grid_name(const std::string& path, const Json& value, size_t index) {
  const size_t dot = path.rfind('.');
  const std::string option = (dot == std::string::npos ? path : path.substr(dot + 1)) + "=";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return option + (!text.empty() && is_row_name(option + text) ? text : std::to_string(index + 1));
}

}  // namespace

void SweepFile::validate() const {
  require(!base.empty(), "base", "\"\"", "must be the path of a config, relative to this file");
  require_between("seeds", seeds, 1, kMaxSeeds);
  require(set.is_object(), "set", set.dump(), "must be an object");
  require(!set.contains("base"), "set.base", set.value("base", Json()).dump(),
          "belongs in \"base\" or \"patch\"");
  require(!rows.empty(), "rows", "[]", "must have at least one row; the first is the baseline");
  for (const auto& [name, value] :
       {std::pair("cpus", slurm.cpus), std::pair("gpus", slurm.gpus),
        std::pair("nodes", slurm.nodes), std::pair("gpus_per_task", slurm.gpus_per_task),
        std::pair("at_once", slurm.at_once)}) {
    require_between(std::string("slurm.") + name, value, 0, 1 << 16);
  }
  require_between("slurm.tasks", slurm.tasks, 1, 1 << 20);
  require_between("slurm.notice", slurm.notice, 1, 65535);  // seconds; sbatch's limits
  require(slurm.gpus_per_task == 0 || slurm.gpus == 0, "slurm.gpus_per_task", slurm.gpus_per_task,
          "cannot be combined with slurm.gpus, which is per node");
  for (size_t i = 0; i < rows.size(); ++i) validate_row(rows[i], format("rows[%zu]", i));
  require(rows[0].diff.empty() && rows[0].binary.empty(), "rows[0]", "\"" + rows[0].name + "\"",
          "is the baseline, which this program trains: no \"diff\" or \"binary\"");
  if (!tune.empty()) {
    require(tune.is_object(), "tune", tune.dump(), "must be an object");
    const Json updates = tune.value("updates", Json());
    require(updates.is_number_integer() && updates > 0, "tune.updates", updates.dump(),
            "must be the number of updates of a trial");
    Json grid = tune;
    grid.erase("updates");
    validate_grid(grid, "tune");
    for (const auto& [path, values] : grid.items()) {
      for (const auto& [leaf, value] : values_by_path(nested(path, values.front()))) {
        for (const char* key : {"train.steps", "train.patience", "eval", "search", "data.valid"}) {
          require(!is_within(leaf, key), "tune." + leaf, values.dump(),
                  "cannot be chosen by the perplexity after tune.updates");
        }
      }
    }
  }
}

std::vector<ExpandedRow> expand(const SweepRow& row) {
  std::vector<ExpandedRow> rows = {{.row = row}};
  for (const auto& [path, values] : row.grid.items()) {
    std::vector<ExpandedRow> more;
    for (const ExpandedRow& before : rows) {
      for (size_t i = 0; i < values.size(); ++i) {
        ExpandedRow& one = more.emplace_back(before);
        one.row.name += "." + grid_name(path, values[i], i);
        merge_patch(one.values, nested(path, values[i]));
        one.combination.push_back(values[i]);
        if (more.size() > kMaxSweepRuns) {
          throw ConfigError("row " + row.name + ": grid: more than 10000 combinations");
        }
      }
    }
    rows = std::move(more);
  }
  return rows;
}

std::vector<ExpandedRow> expand_rows(const SweepFile& file) {
  std::vector<ExpandedRow> rows;
  std::vector<std::string> names;
  for (const SweepRow& row : file.rows) {
    for (ExpandedRow& one : expand(row)) {
      if (std::ranges::count(names, one.row.name) > 0) {
        throw ConfigError("duplicate row name " + one.row.name);
      }
      const std::string& baseline = one.row.baseline;
      const auto found = std::ranges::find(names, baseline);
      if (!baseline.empty() && found == names.end()) {
        throw ConfigError("row " + one.row.name + ": baseline: \"" + baseline +
                          "\": no row above it has that name" + suggestion(baseline, names));
      }
      if (rows.size() == kMaxSweepRuns) throw ConfigError("rows: more than 10000");
      if (!baseline.empty()) one.baseline = found - names.begin();
      names.push_back(one.row.name);
      rows.push_back(std::move(one));
    }
  }
  return rows;
}

}  // namespace attn
