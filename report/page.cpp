#include "report/page.h"

#include <algorithm>
#include <cmath>

#include "report/plot.h"
#include "report/table.h"

namespace attn {
namespace {

// Explanation of the columns, for both formats.
std::vector<std::string> legend(const SweepResults& results) {
  std::vector<std::string> lines;
  if (!results.evaluators[Metric::loss].empty()) {
    lines.push_back(
        "Perplexity is per subword and without label smoothing. All scores are of the weights "
        "after the last update, without checkpoint averaging.");
  }
  lines.push_back(
      "Δ is the difference from the first row; * marks a significant one (p < 0.05). With several "
      "seeds of either row the test is Student's t over seeds with pooled variance (all rows are "
      "assumed to vary equally between seeds); BLEU must also pass paired bootstrap resampling "
      "over "
      "sentences.");
  for (const MetricFacts& facts : kMetrics) {
    const std::string& signature = results.signatures[facts.metric];
    if (!signature.empty()) lines.push_back("Signature: " + signature);
  }
  return lines;
}

// In reverse order: perplexity last.
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

// Rows of the same letter share a colour: A1 to A4, B1 and B2, …
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

constexpr const char* kStyle = R"(
:root { --paper: #ffffff; --ink: #1d2430; --faint: #667085; --grid: #e4e7ec; --band: #f5f7fa;
  --c0: #344054; --c1: #1f6fd0; --c2: #b4540a; --c3: #137a4b; --c4: #a02c7d; --c5: #7a5af8;
  --c6: #0e7490; --c7: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171c; --ink: #e6e9ee; --faint: #98a2b3; --grid: #2b313b; --band: #1c2129;
    --c0: #d0d5dd; --c1: #6cb0ff; --c2: #f2a15c; --c3: #5fd39a; --c4: #f08fd0; --c5: #b7a5ff;
    --c6: #5ecbe3; --c7: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1480px; padding: 24px 16px 64px; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 4px; } h2 { font-size: 1.15rem; margin: 40px 0 8px; }
p { margin: 6px 0; max-width: 75ch; overflow-wrap: anywhere; } .faint, figcaption { color: var(--faint); font-size: 0.9rem; }
code { font: 0.88em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 7px; text-align: right; white-space: nowrap; }
thead th { color: var(--faint); font-weight: 600; border-bottom: 1px solid var(--grid); }
thead th.group { text-align: center; } th.text, td.text { text-align: left; }
tbody th { text-align: left; position: sticky; left: 0; background: var(--paper); }
tbody tr:nth-child(even) > * { background: var(--band); }
figure { margin: 28px 0; } svg { display: block; width: 100%; height: auto; }
.narrow { display: none; }
@media (max-width: 640px) { .wide { display: none; } .narrow { display: block; }
  body { padding: 16px 12px 48px; } }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--faint); font-size: 11px; } svg .label { fill: var(--faint); }
svg .name { font-weight: 600; }
svg .grid { stroke: var(--grid); } svg .zero { stroke: var(--faint); }
svg .line { fill: none; stroke-width: 1.6; } svg .leader { fill: none; opacity: 0.5; }
svg .faint { stroke: var(--faint); opacity: 0.6; } svg .error { stroke-width: 1.4; opacity: 0.7; }
svg circle { stroke-width: 1.6; }
details { margin: 12px 0; } summary { cursor: pointer; }
)";

std::string figure(const Plot& plot, const std::string& caption) {
  const std::string wide = to_svg(plot, 860, 440), narrow = to_svg(plot, 360, 400);
  if (wide.empty()) return "";
  return "<figure>\n<h2>" + html_escaped(plot.title) + "</h2>\n<div class=\"wide\">" + wide +
         "</div>\n<div class=\"narrow\">" + narrow + "</div>\n<figcaption>" +
         html_escaped(caption) + "</figcaption>\n</figure>\n";
}

std::string paragraphs(const std::vector<std::string>& lines, const char* style) {
  std::string out;
  for (const std::string& line : lines) {
    out += std::string("<p class=\"") + style + "\">" + html_escaped(line) + "</p>\n";
  }
  return out;
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
  out += "## Training cost\n\n" + to_markdown(cost_table(results)) + "\n";
  for (const std::string& note : results.notes) out += "Note: " + note + "\n\n";
  out += "## Reproduce\n\n    " + results.command + "\n\n";
  out += to_markdown(provenance_table(results)) + "\n" + results.made + "\n";
  return out;
}

std::string html_report(const SweepResults& results, std::span<const RowComparison> comparisons) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += html_escaped(results.title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n";
  out += "<h1>" + html_escaped(results.title) + "</h1>\n<p class=\"faint\">" +
         html_escaped(results.about) + "</p>\n";
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
  out += "<h2>Training cost</h2>\n" + to_html(cost_table(results));
  out += "<h2>Reproduce</h2>\n<p><code>" + html_escaped(results.command) + "</code></p>\n" +
         to_html(provenance_table(results)) + "<p class=\"faint\">" + html_escaped(results.made) +
         "</p>\n</body>\n</html>\n";
  return out;
}

}  // namespace attn
