#include "report/table.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace attn {
namespace {

std::string full(double value) {
  return format("%.17g", value);
}

}  // namespace

std::string signed_number(double value, int decimals) {
  const std::string digits = score_text(std::abs(value), decimals);
  if (digits.find_first_not_of("0.") == std::string::npos) return digits;
  return (value < 0 ? "−" : "+") + digits;
}

Table provenance_table(const SweepResults& results) {
  Table table;
  table.columns.push_back({"run", "run", true, "", ""});
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      for (const auto& [key, value] : run.provenance) {
        const bool known = std::any_of(table.columns.begin(), table.columns.end(),
                                       [&](const auto& column) { return column.key == key; });
        if (!known) table.columns.push_back({key, key, true, "", ""});
      }
    }
  }
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      std::vector<std::string> cells = {run.name};
      cells.resize(table.columns.size());
      for (const auto& [key, value] : run.provenance) {
        for (size_t i = 1; i < cells.size(); ++i) {
          if (table.columns[i].key == key) cells[i] = value;
        }
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Table runs_table(const SweepResults& results) {
  Table table;
  const auto add_column = [&](const char* key) {
    table.columns.push_back({key, key, false, "", ""});
  };
  for (const char* key : {"row", "seed", "finished"}) add_column(key);
  for (const MetricFacts& facts : kMetrics) add_column(facts.key);
  for (const char* key : {"parameters", "target_tokens", "seconds", "tokens_per_second", "flops",
                          "peak_flops", "peak_memory"}) {
    add_column(key);
  }
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      std::vector<std::string> cells = {row.name, std::to_string(run.seed),
                                        run.is_finished() ? "1" : "0"};
      for (const MetricFacts& facts : kMetrics) {
        const std::optional<double>& score = run.scores[facts.metric];
        cells.push_back(score ? full(*score) : "");
      }
      for (std::string cell : {std::to_string(run.parameters), std::to_string(run.target_tokens),
                               full(run.seconds), full(run.tokens_per_second), full(run.flops),
                               full(run.peak_flops), std::to_string(run.peak_memory)}) {
        cells.push_back(std::move(cell));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

}  // namespace attn
