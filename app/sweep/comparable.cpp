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

// The first of the row's finished runs of which the fact is known.
template <class Fact>
std::string first_known(const RowRecord& row, Fact fact) {
  for (const RunRecord& run : row.runs) {
    if (run.is_finished() && !fact(run).empty()) return fact(run);
  }
  return "";
}

// Whether the fact differs between a finished run of the row and those of another row.
template <class Fact>
bool differs(const RowRecord& row, const RowRecord& first, Fact fact) {
  const std::string expected = first_known(first, fact);
  if (expected.empty()) return false;
  for (const RunRecord& run : row.runs) {
    if (run.is_finished() && !fact(run).empty() && fact(run) != expected) return true;
  }
  return false;
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
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  size_t finished = 0, unknown = 0;
  for (size_t i = 0; i < out.rows.size(); ++i) {
    const bool asked = experiments[i].train.precision == Precision::bf16;
    for (const RunRecord& run : out.rows[i].runs) {
      if (!run.is_finished()) continue;
      ++finished;
      if (asked && run.precision.empty()) ++unknown;
      if (asked && run.precision == enum_name(Precision::fp32)) names.push_back(run.name);
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
  which += " trained in fp32: their processor does not support bf16";
  if (unknown > 0) {
    which += "; " + std::to_string(unknown) +
             (unknown == 1 ? " run of an earlier version does not record its precision"
                           : " runs of earlier versions do not record their precision");
  }
  out.notes.push_back(which);
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
