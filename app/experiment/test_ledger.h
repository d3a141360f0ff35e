// The ledger of test sets: how often a set that is marked "test" was scored, and by how many runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "app/experiment/run_directory.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

struct TestScorings {
  std::string set;  ///< its prefix or file
  int64_t times = 0;
  int64_t runs = 0;  ///< that were scored
};

/// Counts a scoring of a set that is marked "test", by the key of its content: in the ledger beside
/// it, SET.ledger.jsonl, and, if it was scored at a `step` of training, in run.json.
void count_scoring(const EvaluatorConfig& config, const DataConfig& data,
                   const std::string& text_key, const RunDirectory& run,
                   std::optional<int64_t> step);

/// The scorings of a text in the ledger, and those of a run by text key, from its run.json.
TestScorings scorings_in_ledger(const std::string& set, const std::string& text_key);
std::map<std::string, TestScorings> scorings_of_run(const Json& run);

/// Throws ConfigError if the rule of an evaluator ("sealed") is not in git, has uncommitted
/// changes, or is not in the commit of which this program was built.
void require_unsealed(std::span<const EvaluatorConfig> evaluators);

}  // namespace attn
