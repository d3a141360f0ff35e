#include <algorithm>
#include <map>

#include "base/format.h"
#include "report/tables.h"

namespace attn {

std::string progress(const SweepResults& results) {
  size_t missing = 0, none = 0, all = 0;
  std::map<RunState, size_t> runs;
  for (const RowRecord& row : results.rows) {
    none += row.runs.empty();
    missing += row.missing;
    all += row.runs.size() + row.missing;
    for (const RunRecord& run : row.runs) ++runs[run.state];
  }
  std::vector<std::string> others;
  for (const auto& [count, state] : {std::pair(runs[RunState::failed], "failed"),
                                     {runs[RunState::unfinished], "unfinished"},
                                     {runs[RunState::omitted], "omitted (see the notes)"},
                                     {missing, "not run"}}) {
    if (count > 0) others.push_back(format("%zu %s", count, state));
  }
  std::vector<std::string> sentences;
  if (!others.empty()) {
    sentences.push_back(format("%zu of %s finished: ", runs[RunState::finished],
                               counted(static_cast<int64_t>(all), "run").c_str()) +
                        joined(others, ", ") + ".");
  }
  if (none > 0) {
    const std::string rows = counted(static_cast<int64_t>(none), "row has", "rows have");
    sentences.push_back(rows + " not been run.");
  }
  return joined(sentences);
}

std::vector<std::string> legend(const SweepResults& results,
                                std::span<const RowComparison> comparisons) {
  std::vector<std::string> lines;
  const bool unstable = std::ranges::any_of(comparisons, [](const RowComparison& row) {
    return std::ranges::any_of(
        kMetrics, [&](const auto& facts) { return row.differences[facts.metric].unstable; });
  });
  lines.push_back(
      "Means over seeds ± standard deviation. Δ is the difference from the first row, or from the "
      "row's baseline, with its 95 % confidence interval. p is that of Student's t test over seeds "
      "with the pooled variance of all rows, adjusted by Holm's method for the rows of the table; "
      "for scores of outputs the larger one of this and of the bootstrap over sentences and seeds "
      "(of the latter alone, and not adjusted, where no row has two seeds). * marks p < 0.05 and "
      "more than "
      "one unit of the last decimal.");
  if (unstable) {
    lines.push_back(
        "‡ marks unstable rows: their seeds deviate more than five times as much as those of the "
        "median row. They are left out of the pooled variance and tested with their own.");
  }
  if (!results.rows.empty()) {
    const RowRecord& first = results.rows.front();
    lines.push_back(
        "Perplexity is per target token and without label smoothing. Weights that are scored: "
        "train.average_last " +
        option_value(first, "train.average_last") + ", train.patience " +
        option_value(first, "train.patience") + ", train.ema " + option_value(first, "train.ema") +
        ", unless a row changes them.");
  }
  for (const MetricFacts& facts : kMetrics) {
    const std::string& signature = results.signatures[facts.metric];
    if (!signature.empty()) lines.push_back("Signature: " + signature);
  }
  return lines;
}

std::string markdown_report(const SweepResults& results,
                            std::span<const RowComparison> comparisons) {
  std::string out = "# " + results.title + "\n\n";
  const auto paragraph = [&](const std::string& text) {
    if (!text.empty()) out += text + "\n\n";
  };
  paragraph(results.about);
  if (results.single_run) {
    const RunRecord& run = results.rows.front().runs.front();
    const std::string state = run.is_finished() ? "Finished" : "Not finished";
    paragraph(state + (run.status.empty() ? "" : ": " + run.status) + ".");
    out += "## Scores\n\n";
    paragraph(to_markdown(scores_table(run)));
  } else {
    paragraph(progress(results));
    paragraph(to_markdown(results_table(results, comparisons)));
    for (const std::string& line : legend(results, comparisons)) paragraph(line);
  }
  for (const std::string& note : results.notes) paragraph("Note: " + note);
  const char* heading = "## Changes of the program\n\n";
  for (const RowRecord& row : results.rows) {
    if (row.change.kind.empty()) continue;
    out += heading + row.name + ": " + row.change.label() + "\n\n``````````diff\n" +
           row.change.record + "\n``````````\n\n";
    heading = "";
  }
  out += "## Training cost\n\n";
  paragraph(to_markdown(cost_table(results)));
  out += "## Reproduce\n\n    " + results.command + "\n\n";
  return out + results.made + " The provenance of each run is in runs.csv.\n";
}

}  // namespace attn
