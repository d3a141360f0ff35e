#include "app/experiment/test_ledger.h"

#include <fstream>
#include <iostream>
#include <set>

#include "app/experiment/run_result.h"
#include "app/machine/shell.h"
#include "app/machine/version.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTests = "tests";  // key in run.json

fs::path ledger_of(const std::string& set) {
  return set + ".ledger.jsonl";
}

void require_unsealed(const EvaluatorConfig& config) {
  if (config.sealed.empty()) return;
  const fs::path rule = fs::absolute(config.sealed);
  const std::string git = "git -C " + shell_quoted(rule.parent_path().string()) + " ";
  const std::string name = " -- " + shell_quoted(rule.filename().string());
  std::string commit = version().commit;
  commit = commit.substr(0, commit.find('+'));
  const auto [failed, rule_commit] = output_of(git + "log -1 --format=%H" + name);
  std::string why;
  if (failed != 0 || rule_commit.empty()) {
    why = " is not in git";
  } else if (!output_of(git + "status --porcelain" + name).text.empty()) {
    why = " has uncommitted changes";
  } else if (output_of(git + "merge-base --is-ancestor " + rule_commit + " " + commit).exit_code) {
    why = " is not in the commit of this build (" + commit + ")";
  } else {
    return;
  }
  throw ConfigError("eval: " + config.name + ": the test set is sealed, and " + config.sealed +
                    why + "; commit the rule, then build again");
}

}  // namespace

void count_scoring(const EvaluatorConfig& config, const DataConfig& data,
                   const std::string& text_key, const RunDirectory& run,
                   std::optional<int64_t> step) {
  if (!config.test) return;
  const std::string& set = config.text(data);
  Json facts = read_run_file(run).value_or(Json::object());
  if (step) {
    const auto before = scorings_of_run(facts);
    const auto found = before.find(text_key);
    const int64_t times = found == before.end() ? 1 : found->second.times + 1;
    facts[kTests][text_key] = {{"set", set}, {"times", times}};
    write_file_atomically(run.run_file(), facts.dump(2) + "\n");
  }
  const Json line = {{"text", text_key},
                     {"evaluator", config.name},
                     {"run", fs::weakly_canonical(run.path()).string()},
                     {"started", facts.value("started", "")},  // tells runs of one directory apart
                     {"step", step ? Json(*step) : Json()},
                     {"commit", version().commit}};
  std::ofstream out(ledger_of(set), std::ios::app);  // one write: processes may append at a time
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" << std::flush;
  if (!out) std::cerr << ledger_of(set).string() << ": cannot be written: a scoring is missing\n";
}

TestScorings scorings_in_ledger(const std::string& set, const std::string& text_key) {
  TestScorings all{.set = set};
  std::set<std::string> runs;
  if (!fs::exists(ledger_of(set))) return all;
  for (const std::string& text : read_lines(ledger_of(set))) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || line.value("text", Json()) != text_key) continue;
    ++all.times;
    runs.insert(line.value("run", Json()).dump() + line.value("started", Json()).dump());
  }
  all.runs = static_cast<int64_t>(runs.size());
  return all;
}

std::map<std::string, TestScorings> scorings_of_run(const Json& run) {
  std::map<std::string, TestScorings> tests;
  const Json counts = run.value(kTests, Json::object());
  for (const auto& [key, entry] : counts.items()) {
    const auto times = entry.is_object() ? number_at(entry, "times") : std::nullopt;
    if (!times || !entry.value("set", Json()).is_string()) continue;  // not as attn wrote it
    tests[key] = {.set = entry["set"], .times = static_cast<int64_t>(*times), .runs = 1};
  }
  return tests;
}

void require_unsealed(std::span<const EvaluatorConfig> evaluators) {
  for (const EvaluatorConfig& config : evaluators) require_unsealed(config);
}

}  // namespace attn
