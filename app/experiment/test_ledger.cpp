#include "app/experiment/test_ledger.h"

#include <fstream>
#include <iostream>

#include "app/experiment/run_result.h"
#include "app/machine/processes.h"
#include "app/machine/version.h"
#include "base/error.h"
#include "data/lines.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

fs::path ledger_of(const std::string& set) {
  return set + ".ledger.jsonl";
}

// Whether the file, in the sources of this build or, for the program of a diff, in the tree of
// whose commit it is a worktree, is in the commit as it stands. The settings of any other
// repository may run programs, so that git is not asked there.
bool is_in_commit(const fs::path& file, const std::string& commit) {
  const fs::path source = source_folder();
  if (source.empty()) return false;
  const std::string shared = output_of("git -C " + shell_quoted(source.string()) +
                                       " rev-parse --path-format=absolute --git-common-dir")
                                 .text;
  for (const fs::path& tree : {source, fs::path(shared).parent_path()}) {
    const fs::path name = file.lexically_relative(fs::weakly_canonical(tree));
    if (name.empty() || *name.begin() == "..") continue;
    const std::string git = "git -C " + shell_quoted(tree.string());
    const std::string place = shell_quoted(name.string());
    const std::string there = git + " cat-file -e " + commit + ":" + place;
    return output_of(there + " && " + git + " diff --quiet " + commit + " -- " + place).exit_code ==
           0;
  }
  return false;
}

}  // namespace

void count_scoring(const EvaluatorConfig& config, const DataConfig& data,
                   const std::string& text_key, const RunDirectory& run,
                   std::optional<int64_t> step) {
  if (!config.test) return;
  const std::string& set = config.text(data);
  const Json facts = read_run_file(run);
  const Json line = {{"text", text_key},
                     {"evaluator", config.name},
                     {"run", fs::weakly_canonical(run.path()).string()},
                     {"started", text_at(facts, "started")},  // tells runs of one directory apart
                     {"step", step ? Json(*step) : Json()},
                     {"commit", version().commit}};
  std::ofstream out(ledger_of(set), std::ios::app);  // one write: processes may append at a time
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" << std::flush;
  if (!out) std::cerr << ledger_of(set).string() << ": cannot be written: a scoring is missing\n";
}

TestScorings scorings_in_ledger(const std::string& set, const std::string& text_key) {
  TestScorings all{.set = set};
  if (!fs::exists(ledger_of(set))) return all;
  for (const std::string& text : read_lines(ledger_of(set))) {
    const Json line = parse_record(text);
    if (!line.is_object() || line.value("text", Json()) != text_key) continue;
    ++all.times;
    all.runs.insert(line.value("run", Json()).dump() + line.value("started", Json()).dump());
  }
  return all;
}

void require_unsealed(std::span<const EvaluatorConfig> evaluators) {
  const std::string built = version().commit, commit = built.substr(0, built.find('+'));
  for (const EvaluatorConfig& config : evaluators) {
    if (config.sealed.empty()) continue;
    if (is_in_commit(fs::weakly_canonical(config.sealed), commit)) continue;
    throw ConfigError("eval: " + config.name + ": the test set is sealed, and " + config.sealed +
                      " is not, as it stands, in the commit of this build (" + commit +
                      "); commit it, then build again");
  }
}

}  // namespace attn
