// A sweep: a JSON file with a base config and rows, such as Table 3 of the paper.
//
//   { "base": "multi30k/tiny.json",
//     "rows": [ { "name": "base", "paper": { "ppl": 4.92, "bleu": 25.8, "params_m": 65 } },
//               { "name": "B1", "set": { "model": { "d_k": 16 } }, "paper": { "ppl": 5.16 } },
//               { "name": "heads", "grid": { "model.heads": [1, 4, 16] } } ] }
//
// The first row is the baseline of the comparison, except for rows that name another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json_config.h"
#include "report/results.h"

namespace attn {

/// Seeds that a row may have.
inline constexpr int64_t kMaxSeeds = 10'000;

struct SweepRow {
  std::string name;
  std::string about;
  std::string group;
  std::vector<std::string> patch;
  Json set = Json::object();
  Json grid = Json::object();
  std::string diff;
  std::string binary;
  int64_t seeds = 0;
  std::string baseline;
  PaperResults paper;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "name of the row and of its directory");
    visit("about", self.about, "description for the report");
    visit(
        "group", self.group,
        "heading in the report, shared by the rows of a group; empty: by name or changed options");
    visit("patch", self.patch, "config files merged into the base, relative to this file");
    visit("set", self.set,
          "merge patch on the base; null resets an option to its default; another "
          "model.architecture resets all options of \"model\"");
    visit("grid", self.grid, "option paths and their values: one row per combination");
    visit("diff", self.diff,
          "change of attn's sources, relative to this file: the row is trained by a build with it");
    visit("binary", self.binary, "a build of attn that trains the row, relative to this file");
    visit("seeds", self.seeds, "runs with different seeds; 0: as given for the sweep");
    visit("baseline", self.baseline,
          "name of the row above that this one is compared with; empty: the first row");
    visit("paper", self.paper, "the paper's results, for the report");
  }
  bool operator==(const SweepRow&) const = default;
};

/// The names of the evaluators of the report; empty: the first one of the kind.
using SweepMetrics = PerMetric<std::string>;

/// Resources of the Slurm job array (`attn sweep --slurm`). Empty and 0: the site's defaults.
struct SlurmConfig {
  std::string partition;
  std::string time;
  std::string account;
  std::string memory;
  int64_t cpus = 0;
  int64_t gpus = 0;
  int64_t tasks = 1;
  int64_t nodes = 0;
  int64_t gpus_per_task = 0;
  int64_t at_once = 0;
  int64_t notice = 120;
  std::vector<std::string> options;
  std::vector<std::string> setup;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("partition", self.partition, "--partition");
    visit("time", self.time, "--time: limit per job; unfinished runs are requeued");
    visit("account", self.account, "--account");
    visit("memory", self.memory, "--mem");
    visit("cpus", self.cpus, "--cpus-per-task; 0: the site's default");
    visit("gpus", self.gpus, "--gpus-per-node; 0: none");
    visit("tasks", self.tasks, "--ntasks: processes that train a run together (MPI)");
    visit("nodes", self.nodes, "--nodes; 0: as Slurm places the tasks");
    visit("gpus_per_task", self.gpus_per_task, "--gpus-per-task; 0: none");
    visit("at_once", self.at_once, "maximum number of array jobs at a time; 0: all");
    visit("notice", self.notice, "seconds before the time limit at which a run saves and stops");
    visit("options", self.options, "additional #SBATCH options, such as \"--qos=long\"");
    visit("setup", self.setup, "shell commands before the run, such as \"module load cuda\"");
  }
  bool operator==(const SlurmConfig&) const = default;
};

struct SweepFile {
  std::string about;
  std::string base;
  std::vector<std::string> patch;
  Json set = Json::object();
  int64_t seeds = 1;
  Json tune = Json::object();
  int64_t paper_vocabulary = 0;
  SweepMetrics metrics;
  std::vector<SweepRow> rows;
  std::vector<PublishedSystem> published;
  SlurmConfig slurm;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("about", self.about, "free text: command, training time, expected result");
    visit("base", self.base, "base config of all rows, relative to this file");
    visit("patch", self.patch, "config files merged into the base, relative to this file");
    visit("set", self.set, "merge patch on the base, for all rows");
    visit("seeds", self.seeds,
          "runs per row, with seeds s, s + 1, … from the base config's seed s");
    visit("tune", self.tune,
          "option paths and their values, tried for every row with \"updates\" updates");
    visit("paper_vocabulary", self.paper_vocabulary,
          "vocabulary size at which parameters are checked against the paper's; 0: no check");
    visit("metrics", self.metrics, "evaluators to report");
    visit(
        "rows", self.rows,
        "rows; the first one is the baseline of the comparison, except for rows that name another");
    visit("published", self.published,
          "systems with published results only, below the rows in the report's table of costs");
    visit("slurm", self.slurm, "resources of the Slurm job array");
  }
  bool operator==(const SweepFile&) const = default;
  /// Throws ConfigError naming the first invalid key.
  void validate() const;
};

/// Runs that a sweep may have, and rows that a grid may expand to.
inline constexpr size_t kMaxSweepRuns = 10'000;

/// A row of the file, or one combination of its grid. Its patch on the base: row.set and values.
struct ExpandedRow {
  SweepRow row;
  Json values = Json::object();        ///< of the grid's paths
  std::vector<Json> combination = {};  ///< the grid's values, in the order of its paths
  int64_t baseline = 0;                ///< the row that it is compared with
};

/// Expands the grid of a row: one row per combination, the last path varying fastest. Throws
/// ConfigError for more than kMaxSweepRuns combinations.
std::vector<ExpandedRow> expand(const SweepRow& row);

/// All rows, expanded. Throws ConfigError for two of one name, and for a baseline that is not above
/// its row.
std::vector<ExpandedRow> expand_rows(const SweepFile& file);

}  // namespace attn
