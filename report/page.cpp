#include "report/page.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/page_parts.h"
#include "report/plot.h"
#include "report/table.h"

namespace attn {
namespace {

// Explanation of the columns, for both formats.
std::vector<std::string> legend(const SweepResults& results) {
  std::vector<std::string> lines;
  if (!results.evaluators[Metric::loss].empty()) {
    std::string line = "Perplexity is per subword and without label smoothing. All scores are of ";
    if (results.averaged > 0) {
      line += format("the average of the last %lld checkpoints.",
                     static_cast<long long>(results.averaged));
    } else {
      line += "the weights after the last update, without checkpoint averaging.";
    }
    lines.push_back(std::move(line));
  }
  lines.push_back(
      "Δ is the difference from the first row, with its 95 % confidence interval over seeds. p, "
      "seeds: Welch's t test where both rows have at least three seeds, otherwise, with several "
      "seeds of either row, Student's t with pooled variance (the rows are assumed to vary equally "
      "between seeds). p, Holm: the same adjusted by Holm's method for the rows of the table. p, "
      "sentences: paired bootstrap over sentences. p, sentences and seeds: bootstrap over both.");
  lines.push_back(
      "* marks a significant difference: p, Holm below 0.05, for BLEU also p, sentences and seeds, "
      "and more than one unit of the last decimal. Where no test over seeds is possible, BLEU is "
      "tested over sentences, without Holm's correction, and other metrics are not tested.");
  for (const MetricFacts& facts : kMetrics) {
    const std::string& signature = results.signatures[facts.metric];
    if (!signature.empty()) lines.push_back("Signature: " + signature);
  }
  return lines;
}

// Metrics in reverse order: perplexity last.
std::vector<MetricFacts> by_interest() {
  return {kMetrics.rbegin(), kMetrics.rend()};
}

std::vector<std::string> summaries(const SweepResults& results,
                                   std::span<const RowComparison> comparisons) {
  std::vector<std::string> lines;
  for (const MetricFacts& facts : by_interest()) {
    const std::string text = summary(results, comparisons, facts);
    if (!text.empty()) lines.push_back(text);
  }
  return lines;
}

// Rows with the same letter share a colour: A1 to A4, B1 and B2, …
int colour_of(const SweepResults& results, size_t row) {
  std::vector<std::string> families;
  for (size_t i = 0; i <= row; ++i) {
    const std::string& name = results.rows[i].name;
    const size_t digits = name.find_first_of("0123456789=");
    const std::string family = name.substr(0, digits == 0 ? 1 : digits);
    const auto found = std::find(families.begin(), families.end(), family);
    if (i == row) return static_cast<int>(found - families.begin()) % kPlotColours;
    if (found == families.end()) families.push_back(family);
  }
  return 0;
}

Plot learning_curves(const SweepResults& results) {
  Plot plot{.title = "Learning curves",
            .x = {"updates", false},
            .y = {"perplexity (" + results.evaluators[Metric::loss] + ")", true}};
  for (size_t i = 0; i < results.rows.size(); ++i) {
    for (const RunRecord& run : results.rows[i].runs) {
      if (run.curve.empty()) continue;
      PlotLine line{.label = results.rows[i].name, .colour = colour_of(results, i), .points = {}};
      for (const CurvePoint& point : run.curve) {
        line.points.emplace_back(static_cast<double>(point.step), point.ppl);
      }
      plot.lines.push_back(std::move(line));
      break;  // only the first seed, for readability
    }
  }
  return plot;
}

Plot against_paper(const SweepResults& results, std::span<const RowComparison> comparisons,
                   const MetricFacts& facts) {
  const std::string metric = facts.name;
  Plot plot{.title = "Δ " + metric + " from the base: ours vs. the paper's",
            .x = {"the paper's Δ " + metric, false},
            .y = {"our Δ " + metric, false},
            .zero_lines = true};
  for (size_t i = 1; i < results.rows.size(); ++i) {
    const Difference& difference = comparisons[i].differences[facts.metric];
    if (!difference.ours || !difference.paper) continue;
    plot.points.push_back({.label = results.rows[i].name,
                           .colour = colour_of(results, i),
                           .x = *difference.paper,
                           .y = *difference.ours,
                           .error = {},
                           .hollow = !difference.significant});
  }
  return plot;
}

enum class Cost { parameters, flops };

Plot quality_against(const SweepResults& results, std::span<const RowComparison> comparisons,
                     Cost cost) {
  const bool parameters = cost == Cost::parameters;
  MetricFacts facts = kMetrics.front();
  for (const MetricFacts& other : by_interest()) {
    if (results.evaluators[other.metric].empty()) continue;
    facts = other;
    break;
  }
  const std::string metric = facts.heading, name = results.evaluators[facts.metric];
  Plot plot{.title = metric + " vs. " + (parameters ? "parameters" : "training FLOPs"),
            .x = {parameters ? "parameters, millions" : "training FLOPs", true},
            .y = {metric + " (" + name + ")", false}};
  for (size_t i = 0; i < results.rows.size(); ++i) {
    const auto& mean = comparisons[i].means[facts.metric];
    if (!mean) continue;
    for (const RunRecord& run : results.rows[i].runs) {
      if (!run.finished) continue;
      plot.points.push_back(
          {.label = results.rows[i].name,
           .colour = colour_of(results, i),
           .x = parameters ? static_cast<double>(run.parameters) / 1e6 : run.flops,
           .y = mean->mean,
           .error = mean->deviation,
           .hollow = false});
      break;
    }
  }
  return plot;
}

std::string row_legend(const SweepResults& results) {
  std::string items;
  for (const RowRecord& row : results.rows) {
    if (row.about.empty()) continue;
    items += "<li><b>" + html_escaped(row.name) + "</b> " + html_escaped(row.about) + "</li>\n";
  }
  return items.empty() ? ""
                       : "<details><summary>Rows</summary>\n<ul>" + items + "</ul></details>\n";
}

}  // namespace

std::string markdown_report(const SweepResults& results,
                            std::span<const RowComparison> comparisons) {
  std::string out = "# " + results.title + "\n\n";
  if (!results.about.empty()) out += results.about + "\n\n";
  out += to_markdown(results_table(results, comparisons)) + "\n";
  for (const std::string& line : summaries(results, comparisons)) out += line + "\n\n";
  for (const std::string& line : legend(results)) out += line + "\n\n";
  for (const std::string& note : results.notes) out += "Note: " + note + "\n\n";
  return out + markdown_end(results);
}

std::string html_report(const SweepResults& results, std::span<const RowComparison> comparisons) {
  std::string out = page_head(results.title, results.about);
  out += paragraphs(summaries(results, comparisons), "");
  out += to_html(results_table(results, comparisons));
  out += paragraphs(legend(results), "faint") + paragraphs(results.notes, "");
  out += row_legend(results);
  out += figure(learning_curves(results),
                "Validation perplexity of each row's first seed; lower is better. Rows of the same "
                "letter share a colour.");
  const char* caption =
      "Each row's difference from the first one. Filled: significant; hollow: not significant. In "
      "the lower left and upper right quadrants the signs agree.";
  for (const MetricFacts& facts : by_interest()) {
    out += figure(against_paper(results, comparisons, facts), caption);
  }
  out += figure(quality_against(results, comparisons, Cost::parameters),
                "Mean over seeds; error bars: one standard deviation.");
  out += figure(quality_against(results, comparisons, Cost::flops),
                "FLOPs of the whole training, in closed form.");
  return out + html_end(results);
}

}  // namespace attn
