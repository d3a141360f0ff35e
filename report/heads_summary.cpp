#include "report/heads_summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"

namespace attn {
namespace {

constexpr const char* kKinds[] = {"encoder", "decoder", "cross"};
constexpr double kLoss = 1.0;  // BLEU

// The share of the run's importance that heads of `kind` have.
double importance_share(const RunRecord& run, const std::string& kind) {
  double of_kind = 0.0, all = 0.0;
  for (const HeadRecord& head : run.heads) {
    all += head.importance;
    if (head.kind == kind) of_kind += head.importance;
  }
  return all > 0.0 ? of_kind / all : 0.0;
}

// The largest share of heads that can be masked, counted up to the first larger loss.
double maskable_share(const RunRecord& run) {
  double share = 0.0;
  for (const PruningPoint& point : run.pruning) {
    if (point.bleu < run.pruning.front().bleu - kLoss) break;
    share = std::max(share, point.masked);
  }
  return share;
}

// The mean over the runs for which `has` holds; "" if there are none.
template <class Has, class Value>
std::string mean_cell(const RowRecord& row, const char* pattern, Has has, Value value) {
  double sum = 0.0, count = 0.0;
  for (const RunRecord& run : row.runs) {
    if (!has(run)) continue;
    sum += value(run);
    ++count;
  }
  return count > 0.0 ? format(pattern, sum / count) : "";
}

bool has_heads(const RunRecord& run) {
  return !run.heads.empty();
}

bool has_pruning(const RunRecord& run) {
  return !run.pruning.empty();
}

}  // namespace

Table heads_summary_table(const SweepResults& results) {
  Table table;
  table.columns = {{"row", "row", true, "", ""}, {"heads", "heads", false, "", "in all layers"}};
  for (const char* kind : kKinds) {
    table.columns.push_back({kind, kind, false, "importance, %", ""});
  }
  table.columns.push_back({"bleu", "BLEU", false, "", "with all heads"});
  table.columns.push_back({"maskable", "can be masked, %", false, "", "at a loss of at most 1"});
  for (const RowRecord& row : results.rows) {
    if (std::none_of(row.runs.begin(), row.runs.end(), has_heads)) continue;
    std::vector<std::string> cells = {row.name};
    cells.push_back(mean_cell(row, "%.0f", has_heads, [](const RunRecord& run) {
      return static_cast<double>(run.heads.size());
    }));
    for (const char* kind : kKinds) {
      cells.push_back(mean_cell(row, "%.0f", has_heads, [&](const RunRecord& run) {
        return 100.0 * importance_share(run, kind);
      }));
    }
    cells.push_back(mean_cell(row, "%.2f", has_pruning,
                              [](const RunRecord& run) { return run.pruning.front().bleu; }));
    cells.push_back(mean_cell(row, "%.0f", has_pruning,
                              [](const RunRecord& run) { return 100.0 * maskable_share(run); }));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace attn
