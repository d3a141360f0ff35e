#include "report/run_page.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/format.h"
#include "report/page_parts.h"
#include "report/page_plots.h"
#include "report/plot.h"
#include "report/scale.h"

namespace attn {
namespace {

constexpr const char* kPerplexity = kMetrics.front().name;

const RunRecord& record_of(const SingleRun& run) {
  return run.results.rows.front().runs.front();
}

std::string state_of(const SingleRun& run) {
  const RunRecord& record = record_of(run);
  if (!record.is_finished()) return "Not finished: " + record.status + ".";
  return record.status.empty() ? "Finished." : "Finished: " + record.status + ".";
}

std::pair<int64_t, double> best_of(const MetricCurve& curve) {
  return *std::min_element(
      curve.values.begin(), curve.values.end(), [&](const auto& a, const auto& b) {
        return curve.lower_is_better ? a.second < b.second : a.second > b.second;
      });
}

bool is_plotted(const MetricCurve& curve) {
  return !curve.title.empty() && curve.values.size() >= 2;
}

PlotLine line_of(const MetricCurve& curve, size_t index) {
  PlotLine line{.label = curve.evaluator,
                .hover = curve.evaluator + ": " + curve.title,
                .colour = categorical_colour(index),
                .points = {},
                .band = {}};
  for (const auto& [step, value] : curve.values) {
    line.points.emplace_back(static_cast<double>(step), value);
  }
  return line;
}

// The best value of a curve, marked where it isn't the last one.
void mark_best(Plot& plot, const MetricCurve& curve, const Colour& colour) {
  const auto [step, value] = best_of(curve);
  if (step == curve.values.back().first) return;
  const std::string text = "best " + decimal(value, 2);
  plot.points.push_back({.label = text,
                         .hover = text + " at step " + std::to_string(step),
                         .colour = colour,
                         .x = static_cast<double>(step),
                         .y = value,
                         .error = {},
                         .hollow = true});
}

// The first evaluations of perplexity are many times the last ones: shows what is below three times
// the best.
std::optional<Interval> late_range(const Plot& plot) {
  constexpr double kTimesBest = 3.0;
  Interval all{INFINITY, 0.0};
  for (const PlotLine& line : plot.lines) {
    for (const auto& [step, ppl] : line.points) {
      if (!std::isfinite(ppl) || ppl <= 0) continue;
      all = {std::min(all.low, ppl), std::max(all.high, ppl)};
    }
  }
  if (!(all.low < all.high)) return {};
  return Interval{all.low, std::min(all.high, kTimesBest * all.low)};
}

PlotPanel& panel_of(std::vector<PlotPanel>& panels, const MetricCurve& curve) {
  for (PlotPanel& panel : panels) {
    if (panel.heading == curve.title) return panel;
  }
  Plot plot{.description = curve.title + " by updates",
            .x = {"updates", false, {}, {}},
            .y = {curve.title, curve.lower_is_better, {}, {}},
            .lines = {},
            .points = {}};
  panels.push_back({.heading = curve.title, .words = {}, .plot = std::move(plot)});
  return panels.back();
}

// A plot per main metric of the evaluators; that of perplexity also shows training perplexity.
std::vector<PlotPanel> plots_of(const SingleRun& run) {
  constexpr double kWidth = 560, kHeight = 320;
  std::vector<PlotPanel> panels;
  if (!run.training.empty()) {
    const MetricCurve training{"training", "", "ppl", kPerplexity, true, {}};
    PlotLine line = line_of(training, 0);
    line.colour = "base";
    for (const CurvePoint& point : run.training) {
      line.points.emplace_back(static_cast<double>(point.step), point.ppl);
    }
    panel_of(panels, training).plot.lines.push_back(std::move(line));
  }
  for (const MetricCurve& curve : run.curves) {
    if (!is_plotted(curve)) continue;
    Plot& plot = panel_of(panels, curve).plot;
    PlotLine line = line_of(curve, plot.lines.size());
    mark_best(plot, curve, line.colour);
    plot.lines.push_back(std::move(line));
  }
  for (PlotPanel& panel : panels) {
    Plot& plot = panel.plot;
    if (plot.y.logarithmic) plot.y.range = late_range(plot);
    if (panels.size() == 1) std::tie(plot.width, plot.height) = std::pair(kWidth, kHeight);
    panel.heading[0] = static_cast<char>(std::toupper(panel.heading[0]));
  }
  return panels;
}

// "BLEU 41.07 (test), perplexity 5.23 (valid), after 2,100 updates."
std::string last_scores(const SingleRun& run) {
  std::string text;
  int64_t step = 0;
  for (const MetricCurve& curve : run.curves) {
    if (curve.title.empty() || curve.values.empty()) continue;
    step = std::max(step, curve.values.back().first);
    text.append(text.empty() ? "" : ", ").append(curve.title);
    text += " " + decimal(curve.values.back().second, 2) + " (" + curve.evaluator +
            (curve.weights == "average" ? ", average)" : ")");
  }
  if (text.empty()) return "No evaluation yet.";
  text[0] = static_cast<char>(std::toupper(text[0]));
  return text + ", after " + tick_text(static_cast<double>(step)) + " updates.";
}

}  // namespace

Table scores_table(const SingleRun& run) {
  Table table;
  table.columns = {{"evaluator", "evaluator", true, "", ""},
                   {"weights", "weights", true, "", "a checkpoint's, or the average's"},
                   {"metric", "metric", true, "", ""},
                   {"value", "value", false, "", "last evaluation"},
                   {"step", "step", false, "", "step of the last evaluation"},
                   {"best", "best", false, "", "best of all evaluations"},
                   {"best_step", "at step", false, "", "step of the best evaluation"}};
  for (const MetricCurve& curve : run.curves) {
    if (curve.values.empty()) continue;
    const auto& [step, value] = curve.values.back();
    std::vector<std::string> cells = {curve.evaluator, curve.weights, curve.metric,
                                      format("%.4g", value), std::to_string(step)};
    if (!curve.title.empty()) {
      const auto best = best_of(curve);
      cells[3] = decimal(value, 2);
      cells.push_back(decimal(best.second, 2));
      cells.push_back(std::to_string(best.first));
    }
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table evaluations_table(const SingleRun& run) {
  Table table;
  for (const char* key : {"step", "evaluator", "weights", "metric", "value"}) {
    table.columns.push_back({key, key, false, "", ""});
  }
  const auto add = [&](int64_t step, const MetricCurve& curve, double value) {
    table.rows.push_back({std::to_string(step), curve.evaluator, curve.weights, curve.metric,
                          format("%.17g", value)});
  };
  const MetricCurve training{"training", "checkpoint", "ppl", {}, true, {}};
  for (const CurvePoint& point : run.training) add(point.step, training, point.ppl);
  for (const MetricCurve& curve : run.curves) {
    for (const auto& [step, value] : curve.values) add(step, curve, value);
  }
  return table;
}

std::string markdown_report(const SingleRun& run) {
  const SweepResults& results = run.results;
  std::string out = "# " + results.title + "\n\n";
  if (!results.about.empty()) out += results.about + "\n\n";
  out += state_of(run) + "\n\n";
  for (const std::string& note : results.notes) out += "Note: " + note + "\n\n";
  out += "## Scores\n\n" + to_markdown(scores_table(run)) + "\n";
  return out + markdown_end(results);
}

std::string html_report(const SingleRun& run) {
  const SweepResults& results = run.results;
  std::string out = page_head(results.title, results.about);
  out += paragraphs({last_scores(run)}, "summary");
  out += paragraphs({state_of(run)}, record_of(run).is_finished() ? "small" : "progress");
  out += paragraphs(results.notes, "small");
  const std::string plots = panel_grid(plots_of(run));
  if (!plots.empty()) {
    out += plots;
    out += paragraphs({"Training perplexity is the mean since the previous log line, with dropout; "
                       "evaluators run without."},
                      "caption");
  }
  return out + section("Scores", "") + to_html(scores_table(run)) + html_end(results);
}

}  // namespace attn
