#include "app/sweep/sweep_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "app/experiment/run_directory.h"
#include "base/check.h"
#include "base/format.h"

namespace attn {
namespace {

constexpr size_t kMaxNameLength = 80;
// What a sweep keeps beside its rows.
constexpr std::array<std::string_view, 5> kOwnNames = {"cache", "vocabulary", "sweep.json",
                                                       "slurm.sh", "sbatch.out"};

std::string row_place(size_t i) {
  std::string place = "rows[";
  place += std::to_string(i);
  return place + "]";
}

void validate_results(const PaperResults& paper_results, const std::string& place) {
  for (const MetricFacts& facts : kMetrics) {
    const double value = paper_results.scores[facts.metric];
    require(value >= 0, place + "." + facts.key, value, "must be 0 (none) or more");
  }
  require(paper_results.params_m >= 0, place + ".params_m", paper_results.params_m,
          "must be 0 or more");
  require(paper_results.flops >= 0, place + ".flops", paper_results.flops, "must be 0 or more");
}

void validate_row(const SweepRow& row, const std::string& place) {
  const std::string quoted = "\"" + row.name + "\"";
  require(is_row_name(row.name), place + ".name", quoted,
          "must be a directory name: letters, digits and . _ = + -, at most 80, no leading . or -");
  const bool taken =
      std::ranges::count(kOwnNames, row.name) + std::ranges::count(kReportFiles, row.name);
  require(!taken, place + ".name", quoted,
          "is the name of a file or folder of the sweep; choose another");
  require_between(place + ".seeds", row.seeds, 0, kMaxSeeds);
  validate_results(row.paper, place + ".paper");
  require(row.set.is_object(), place + ".set", row.set.dump(), "must be an object");
  require(row.grid.is_object(), place + ".grid", row.grid.dump(),
          "must be an object of paths and arrays of values");
  for (const char* key : {"base", "seed"}) {
    require(!row.set.contains(key), place + ".set." + key, row.set.value(key, Json()).dump(),
            std::string("belongs in \"") + (key[0] == 'b' ? "patch" : "seeds") + "\"");
  }
  for (const auto& [path, values] : row.grid.items()) {
    require(path != "seed", place + ".grid.seed", values.dump(), "belongs in \"seeds\"");
    require(values.is_array() && !values.empty(), place + ".grid." + path, values.dump(),
            "must be an array of at least one value");
  }
}

}  // namespace

bool is_row_name(const std::string& name) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '=' || c == '+';
  };
  return !name.empty() && name.size() <= kMaxNameLength && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), fits);
}

void SweepFile::validate() const {
  require(!base.empty(), "base", "\"\"", "must be the path of a config, relative to this file");
  require_between("seeds", seeds, 1, kMaxSeeds);
  require(set.is_object(), "set", set.dump(), "must be an object");
  require(!set.contains("base"), "set.base", set.value("base", Json()).dump(),
          "belongs in \"base\" or \"patch\"");
  require(!rows.empty(), "rows", "[]", "must have at least one row; the first is the baseline");
  require(paper_vocabulary >= 0, "paper_vocabulary", paper_vocabulary, "must be 0 or more");
  require(slurm.notice >= 1, "slurm.notice", slurm.notice, "must be 1 second or more");
  require(slurm.cpus >= 0 && slurm.gpus >= 0 && slurm.at_once >= 0, "slurm", "a negative number",
          "cpus, gpus and at_once must be 0 or more");
  require(slurm.tasks >= 1, "slurm.tasks", slurm.tasks, "must be positive");
  require(slurm.nodes >= 0 && slurm.nodes <= slurm.tasks, "slurm.nodes", slurm.nodes,
          "must be from 0 to slurm.tasks");
  require(slurm.gpus_per_task >= 0 && (slurm.gpus_per_task == 0 || slurm.gpus == 0),
          "slurm.gpus_per_task", slurm.gpus_per_task,
          "must be 0 or more, and 0 with slurm.gpus, which is per node");
  for (size_t i = 0; i < rows.size(); ++i) validate_row(rows[i], row_place(i));
  for (size_t i = 0; i < published.size(); ++i) {
    const std::string place = format("published[%zu]", i);
    require(!published[i].name.empty(), place + ".name", "\"\"", "must be the system's name");
    validate_results(published[i].paper, place + ".paper");
  }
}

}  // namespace attn
