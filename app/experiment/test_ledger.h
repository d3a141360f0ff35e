// The ledger of test sets: how often a set that is marked "test" was scored, and by how many runs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "app/experiment/run_directory.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

struct TestScorings {
  std::string set;  ///< its prefix or file
  int64_t times = 0;
  std::set<std::string> runs;  ///< that were scored
};

/// Counts a scoring of a set that is marked "test" in the ledger beside it, SET.ledger.jsonl, by
/// the key of its content. `step`: of the run's training.
void count_scoring(const EvaluatorConfig& config, const DataConfig& data,
                   const std::string& text_key, const RunDirectory& run,
                   std::optional<int64_t> step);

TestScorings scorings_in_ledger(const std::string& set, const std::string& text_key);

/// Throws ConfigError if the rule of an evaluator ("sealed") is not, as it stands, in the commit of
/// which this program was built.
void require_unsealed(std::span<const EvaluatorConfig> evaluators);

}  // namespace attn
