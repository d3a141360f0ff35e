#include "report/page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/parse_number.h"
#include "report/heads_summary.h"
#include "report/page_parts.h"
#include "report/page_plots.h"
#include "report/summary.h"
#include "report/table.h"

namespace attn {
namespace {

constexpr const char* kHeadsCaption =
    "For the runs with a heads.json (attn heads RUN --prune --json RUN/heads.json); means over "
    "seeds. Importance is |context · gradient| (Michel et al. 2019), as the share of each kind of "
    "attention. The least important heads are masked first; the share that can be masked is the "
    "largest one at which BLEU is at most 1 lower.";

// The value of an option of a row that is a number; 0 if it has none.
double number_of(const RowRecord& row, const char* option) {
  const auto found = row.values.find(option);
  return found == row.values.end() ? 0.0 : parse_number<double>(found->second).value_or(0.0);
}

std::string weights_of(const RowRecord& row) {
  const double every = number_of(row, "train.checkpoint_every");
  const double checkpoints = every > 0 ? std::ceil(number_of(row, "train.steps") / every) : 0.0;
  double averaged = number_of(row, "train.average_last");
  if (checkpoints > 0) averaged = std::min(averaged, checkpoints);
  if (averaged > 0) return format("the average of the last %.0f checkpoints", averaged);
  if (number_of(row, "train.ema") > 0) return "the exponential moving average of the weights";
  return "the weights after the last update, without checkpoint averaging";
}

// Which weights were scored.
std::string scored_weights(const SweepResults& results) {
  const std::string first = weights_of(results.rows.front());
  std::vector<std::string> weights;  // in order of appearance
  std::map<std::string, std::string> rows;
  for (const RowRecord& row : results.rows) {
    const std::string own = weights_of(row);
    if (own == first) continue;
    std::string& names = rows[own];
    if (names.empty()) weights.push_back(own);
    names += (names.empty() ? "" : ", ") + row.name;
  }
  if (weights.empty()) return "All scores were computed with " + first + ".";
  std::string text = "Scores were computed with " + first;
  for (const std::string& own : weights) text += "; for " + rows[own] + " with " + own;
  return text + ".";
}

// Explanation of the columns, for both formats.
std::vector<std::string> legend(const SweepResults& results) {
  std::vector<std::string> lines;
  if (!results.evaluators[Metric::loss].empty()) {
    lines.push_back("Perplexity is per subword and without label smoothing. " +
                    scored_weights(results));
  }
  const std::string from_baselines =
      has_baselines(results) ? ", or from the row that the column baseline names" : "";
  lines.push_back(
      "Δ is the difference from the first row" + from_baselines +
      ", with its 95 % confidence interval over seeds. p (t test): Student's t with the pooled "
      "variance of all rows, which are assumed to vary equally between seeds. High-variance rows "
      "(F test at the level 0.05, corrected for the number of rows) are named below the table; "
      "their tests have their own variance. p (Holm): the same adjusted by Holm's method for the "
      "rows of the table. p (Welch): Welch's t test of the two rows alone, where both have at "
      "least three seeds. p (bootstrap over sentences): paired bootstrap, as in sacreBLEU. p "
      "(bootstrap over sentences and seeds): both are resampled.");
  lines.push_back(
      "* marks a significant difference: p (Holm) below 0.05, for BLEU also p (bootstrap over "
      "sentences and seeds), and more than one unit of the last decimal. Where no test over seeds "
      "is possible, BLEU is tested over sentences, without Holm's correction, and other metrics "
      "are "
      "not tested.");
  for (const MetricFacts& facts : kMetrics) {
    const std::string& signature = results.signatures[facts.metric];
    if (!signature.empty()) lines.push_back("Signature: " + signature);
  }
  return lines;
}

std::vector<std::string> summaries(const SweepResults& results,
                                   std::span<const RowComparison> comparisons) {
  std::vector<std::string> lines;
  for (const MetricFacts& facts : metrics_by_interest(results)) {
    const std::string text = summary(results, comparisons, facts);
    if (!text.empty()) lines.push_back(text);
  }
  return lines;
}

// One entry of the key: a drawing of 22 × 12 pixels and its meaning.
std::string key_entry(const char* drawing, const std::string& meaning) {
  return std::string("<li><svg viewBox=\"0 0 22 12\" aria-hidden=\"true\">") + drawing + "</svg>" +
         html_escaped(meaning) + "</li>\n";
}

// What the marks of the forest plot mean; only those that occur.
std::string forest_key(const Forest& forest) {
  bool paper = false, interval = false;
  std::set<Colour> filled;
  bool hollow = false;
  for (const Forest::Panel& panel : forest.panels) {
    for (const Forest::Cell& cell : panel.cells) {
      paper |= cell.paper.has_value();
      interval |= cell.interval.has_value();
      hollow |= cell.ours && !cell.significant;
      if (cell.significant) filled.insert(cell.colour);
    }
  }
  const auto dot = [](const char* style, const char* colour) {
    return format("<circle class=\"%s\" style=\"--c:var(--%s)\" cx=\"11\" cy=\"6\" r=\"4.2\"/>",
                  style, colour);
  };
  std::string out;
  if (filled.contains("accent")) {
    out += key_entry(dot("mark", "accent").c_str(),
                     paper ? "significant, with the paper's sign" : "significant difference");
  }
  if (filled.contains("contrary")) {
    out += key_entry(dot("mark", "contrary").c_str(), "significant, against the paper's sign");
  }
  if (filled.contains("ink")) {
    out += key_entry(dot("mark", "ink").c_str(), "significant, no difference in the paper");
  }
  if (hollow) out += key_entry(dot("hollow", "faint").c_str(), "not significant");
  if (interval) {
    out += key_entry(
        "<line class=\"interval\" style=\"--c:var(--faint)\" x1=\"0\" y1=\"6\" x2=\"22\" "
        "y2=\"6\"/>",
        "95 % interval");
  }
  if (paper) {
    out +=
        key_entry("<path class=\"paper\" d=\"M11 1L16 6L11 11L6 6Z\"/>", "the paper's difference");
  }
  return format("<ul class=\"key\">\n%s</ul>\n", out.c_str());
}

std::string forest_figure(const Forest& all) {
  if (all.panels.empty()) return "";
  std::string wide, narrow;
  for (size_t k = 0; k < all.panels.size(); k += 2) {  // two side by side
    Forest pair{.rows = all.rows, .panels = {all.panels[k]}};
    if (k + 1 < all.panels.size()) pair.panels.push_back(all.panels[k + 1]);
    wide += wide_forest(pair);
  }
  for (const Forest::Panel& panel : all.panels) narrow += narrow_forest(all, panel);
  return "<figure class=\"forest\">\n" + forest_key(all) + "<div class=\"side\">" + wide +
         "</div>\n<div class=\"stacked\">" + narrow + "</div>\n</figure>\n";
}

std::string curve_section(const SweepResults& results, std::span<const RowGroup> groups) {
  const std::string grid = panel_grid(learning_curves(results, groups));
  if (grid.empty()) return "";
  return section("Learning curves",
                 "Perplexity of the evaluator " + results.evaluators[Metric::loss] +
                     ", lower is better: mean over seeds, with the range of the seeds as a band. "
                     "The grey line in each plot is " +
                     results.rows.front().name + ".") +
         grid;
}

std::string option_section(const SweepResults& results, std::span<const RowComparison> comparisons,
                           std::span<const RowGroup> groups) {
  const std::string grid = panel_grid(option_plots(results, comparisons, groups));
  if (grid.empty()) return "";
  return section("By option", "Means over seeds; bars: one standard deviation.") + grid;
}

std::string heads_section(const SweepResults& results, std::span<const RowGroup> groups) {
  const Table table = heads_summary_table(results);
  if (table.rows.empty()) return "";
  return section("Heads", kHeadsCaption) + to_html(table) +
         panel_grid(pruning_curves(results, groups));
}

std::string cost_section(const SweepResults& results, std::span<const RowComparison> comparisons,
                         std::span<const RowGroup> groups) {
  Plot plot = cost_plot(results, comparisons, groups);
  plot.width = 380;
  const std::string narrow = to_svg(plot);
  plot.width = 860;
  plot.height = 420;
  if (narrow.empty()) return "";
  return section(
             "Score and cost",
             "Means over seeds; bars: one standard deviation. FLOPs of the whole training run, in "
             "closed form. Rows of a group share a colour.") +
         "<figure class=\"single\"><div class=\"side\">" + to_svg(plot) +
         "</div><div class=\"stacked\">" + narrow + "</div></figure>\n";
}

}  // namespace

std::string markdown_report(const SweepResults& results,
                            std::span<const RowComparison> comparisons) {
  std::string out = "# " + results.title + "\n\n";
  if (!results.about.empty()) out += results.about + "\n\n";
  const std::string state = progress(results);
  if (!state.empty()) out += state + "\n\n";
  out += to_markdown(results_table(results, comparisons)) + "\n";
  for (const std::string& line : summaries(results, comparisons)) out += line + "\n\n";
  for (const std::string& line : legend(results)) out += line + "\n\n";
  const Table heads = heads_summary_table(results);
  if (!heads.rows.empty()) {
    out += std::string("## Heads\n\n") + kHeadsCaption + "\n\n" + to_markdown(heads) + "\n";
  }
  for (const std::string& note : results.notes) out += "Note: " + note + "\n\n";
  return out + markdown_end(results);
}

std::string html_report(const SweepResults& results, std::span<const RowComparison> comparisons) {
  const std::vector<RowGroup> groups = row_groups(results);
  std::string out = page_head(results.title, results.about);
  out += paragraphs({report_summary(results, comparisons)}, "summary");
  const std::string state = progress(results);
  if (!state.empty()) out += paragraphs({state}, "progress");
  out += forest_figure(differences_forest(results, comparisons, groups));
  out += section("Results", "") + to_html(results_table(results, comparisons));
  out += paragraphs(results.notes, "small") + paragraphs(summaries(results, comparisons), "small");
  out += "<details><summary>Columns and tests</summary>\n" + paragraphs(legend(results), "small") +
         "</details>\n";
  out += curve_section(results, groups) + option_section(results, comparisons, groups) +
         heads_section(results, groups) + cost_section(results, comparisons, groups);
  return out + html_end(results);
}

}  // namespace attn
