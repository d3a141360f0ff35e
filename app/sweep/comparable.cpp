#include "app/sweep/comparable.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace attn {
namespace {

std::string value_of(const RowRecord& row, const std::string& path) {
  const auto found = row.values.find(path);
  return found == row.values.end() ? "" : found->second;
}

// Whether two parsers have other symbols for the same tree. The sets of labels may differ, and the
// forms "tags" and "in_order" have the same symbols in another order.
bool other_symbols(const RowRecord& row, const RowRecord& first) {
  for (const char* path : {"data.drop_functions", "data.drop_traces"}) {
    if (value_of(row, path) != value_of(first, path)) return true;
  }
  const auto without_tags = [](const RowRecord& one) {
    return value_of(one, "data.tree_form") == "\"xx\"";
  };
  return without_tags(row) != without_tags(first);
}

// The first of the row's finished runs of which the fact is known.
template <class Fact>
std::string first_known(const RowRecord& row, Fact fact) {
  for (const RunRecord& run : row.runs) {
    if (run.finished && !fact(run).empty()) return fact(run);
  }
  return "";
}

// Whether the fact differs between a finished run of the row and those of another row.
template <class Fact>
bool differs(const RowRecord& row, const RowRecord& first, Fact fact) {
  const std::string expected = first_known(first, fact);
  if (expected.empty()) return false;
  for (const RunRecord& run : row.runs) {
    if (run.finished && !fact(run).empty() && fact(run) != expected) return true;
  }
  return false;
}

}  // namespace

void mark_incomparable(SweepResults& out) {
  const auto mark = [&](RowRecord& row, const RowRecord& other, Metric metric,
                        const std::string& why) {
    if (std::exchange(row.incomparable[metric], true)) return;
    out.notes.push_back(row.name + ": its " + why + " than that of " + other.name +
                        ": no difference is shown");
  };
  const auto compare_with = [&](RowRecord& row, const RowRecord& other) {
    for (const MetricFacts& facts : kMetrics) {
      const auto text = [&](const RunRecord& run) { return run.texts[facts.metric]; };
      if (differs(row, other, text)) {
        mark(row, other, facts.metric,
             std::string(facts.title) + " was computed on different data");
      }
    }
    const bool parsing = value_of(row, "data.task") == "\"parsing\"";
    const auto vocabulary = [](const RunRecord& run) { return run.target_vocabulary; };
    if (parsing ? other_symbols(row, other) : differs(row, other, vocabulary)) {
      mark(row, other, Metric::loss, "perplexity is per token of a different vocabulary");
    }
  };
  for (size_t i = 1; i < out.rows.size(); ++i) {
    RowRecord& row = out.rows[i];
    compare_with(row, out.rows.front());  // the variance over seeds is that of all rows
    if (row.baseline != 0) compare_with(row, out.rows[row.baseline]);
  }
}

void note_precisions(SweepResults& out) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  size_t finished = 0;
  for (const RowRecord& row : out.rows) {
    for (const RunRecord& run : row.runs) {
      if (!run.finished) continue;
      ++finished;
      if (run.precision == "fp32" && value_of(row, "train.precision") == "\"bf16\"") {
        names.push_back(run.name);
      }
    }
  }
  if (names.empty()) return;
  std::string which = "All runs";
  if (names.size() < finished) {
    which = std::to_string(names.size()) + " of " + std::to_string(finished) + " runs (";
    for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
      which += (i > 0 ? ", " : "") + names[i];
    }
    which += names.size() > kNamed ? ", …)" : ")";
  }
  out.notes.push_back(which + " trained in fp32: their processor does not support bf16");
}

}  // namespace attn
