#include "app/sweep/comparable.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/experiment/resume.h"

namespace attn {
namespace {

// Whether two parsers have other symbols for the same tree. The sets of labels may differ, and the
// forms "tags" and "in_order" have the same symbols in another order.
bool other_symbols(const DataConfig& data, const DataConfig& other) {
  return data.drop_functions != other.drop_functions || data.drop_traces != other.drop_traces ||
         (data.tree_form == TreeForm::xx) != (other.tree_form == TreeForm::xx);
}

// Whether a fact, where it is known, differs between the finished runs of two rows.
template <class Fact>
bool differs(const RowRecord& row, const RowRecord& other, Fact fact) {
  std::set<std::string> values;
  for (const RowRecord* one : {&row, &other}) {
    for (const RunRecord& run : one->runs) {
      if (run.is_finished() && !fact(run).empty()) values.insert(fact(run));
    }
  }
  return values.size() > 1;
}

// Whether the runs of two rows with the same seed logged the same losses.
bool same_losses(const RowRecord& row, const RowRecord& other) {
  size_t compared = 0;
  for (const RunRecord& a : row.runs) {
    for (const RunRecord& b : other.runs) {
      if (a.seed != b.seed || !a.is_finished() || !b.is_finished()) continue;
      if (a.losses.empty() || a.losses != b.losses) return false;
      ++compared;
    }
  }
  return compared > 0;
}

// The names of the rows with finished runs by the value of a fact of these runs, if it is known.
template <class Fact>
std::map<std::string, std::string> rows_by(const SweepResults& results, Fact fact) {
  std::map<std::string, std::string> names;
  for (const RowRecord& row : results.rows) {
    std::set<std::string> values;
    for (const RunRecord& run : row.runs) {
      if (run.is_finished() && !fact(run).empty()) values.insert(fact(run));
    }
    for (const std::string& value : values) {
      names[value] += (names[value].empty() ? "" : ", ") + row.name;
    }
  }
  return names;
}

}  // namespace

void mark_incomparable(SweepResults& out, std::span<const Experiment> experiments) {
  const auto mark = [&](RowRecord& row, const RowRecord& other, Metric metric,
                        const std::string& why) {
    if (std::exchange(row.incomparable[metric], true)) return;
    out.notes.push_back(row.name + ": its " + why + " than that of " + other.name +
                        ": no difference is shown");
  };
  const auto compare = [&](size_t i, size_t with) {
    RowRecord& row = out.rows[i];
    const RowRecord& other = out.rows[with];
    for (const MetricFacts& facts : kMetrics) {
      const auto text = [&](const RunRecord& run) { return run.texts[facts.metric]; };
      if (differs(row, other, text)) {
        mark(row, other, facts.metric,
             std::string(facts.title) + " was computed on different data");
      }
    }
    const DataConfig &data = experiments[i].data, &other_data = experiments[with].data;
    const auto vocabulary = [](const RunRecord& run) { return run.target_vocabulary; };
    if (data.task == Task::parsing ? other_symbols(data, other_data)
                                   : differs(row, other, vocabulary)) {
      mark(row, other, Metric::loss, "perplexity is per token of a different vocabulary");
    }
  };
  for (size_t i = 1; i < out.rows.size(); ++i) {
    compare(i, 0);  // the variance over seeds is that of all rows
    if (out.rows[i].baseline != 0) compare(i, out.rows[i].baseline);
  }
}

void note_precisions(SweepResults& out, std::span<const Experiment> experiments) {
  std::string names;
  for (size_t i = 0; i < out.rows.size(); ++i) {
    if (experiments[i].train.precision != Precision::bf16) continue;
    for (const RunRecord& run : out.rows[i].runs) {
      if (!run.is_finished() || run.precision != enum_name(Precision::fp32)) continue;
      names += (names.empty() ? "" : ", ") + run.name;
    }
  }
  if (!names.empty()) {
    out.notes.push_back("trained in fp32, since their processor does not support bf16: " + names);
  }
}

void note_ineffective(SweepResults& out, std::span<const Experiment> experiments) {
  for (size_t i = 1; i < out.rows.size(); ++i) {
    const size_t with = out.rows[i].baseline;
    std::string options;
    for (const std::string& path : resume_conflicts(experiments[with], experiments[i])) {
      options += (options.empty() ? "" : ", ") + path;
    }
    if (options.empty() || !same_losses(out.rows[i], out.rows[with])) continue;
    out.notes.push_back(out.rows[i].name + ": all its losses equal those of " +
                        out.rows[with].name + " to the last bit: " + options + " had no effect?");
  }
}

void note_builds(SweepResults& out) {
  for (const auto& [paths, rows] : rows_by(out, [](const RunRecord& run) { return run.as_read; })) {
    out.notes.push_back(rows + " ran as read, without the fast paths of edited formulas: " + paths);
  }
  const auto commits = rows_by(out, [](const RunRecord& run) { return run.commit; });
  if (commits.size() < 2) return;
  std::string list;
  for (const auto& [commit, rows] : commits) {
    list += (list.empty() ? "" : "; ") + commit + ": " + rows;
  }
  out.notes.push_back("rows were trained by different commits of attn (" + list + ")");
}

}  // namespace attn
