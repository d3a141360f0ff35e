// What `attn heads` found, as a table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_patch.h"
#include "eval/heads/head_pruning.h"
#include "eval/heads/head_statistics.h"
#include "report/table.h"

namespace attn {

struct HeadsReport {
  std::vector<HeadStatistics> heads;
  std::vector<PrunedScore> curve;      ///< empty: not computed
  std::vector<AblatedScore> ablation;  ///< empty, or in the order of `heads`
  std::string signature;               ///< signature of BLEU; empty without curve and ablation
};

/// One row per head; layers and heads count from 1. In full precision for CSV.
Table heads_table(const HeadsReport& report, bool full_precision);
Table pruning_table(const HeadsReport& report);
Json to_json(const HeadsReport& report);

}  // namespace attn
