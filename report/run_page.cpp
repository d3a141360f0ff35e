#include "report/run_page.h"

#include <algorithm>

#include "base/format.h"
#include "report/page_parts.h"
#include "report/plot.h"

namespace attn {
namespace {

const RunRecord& record_of(const SingleRun& run) {
  return run.results.rows.front().runs.front();
}

std::string state_of(const SingleRun& run) {
  const RunRecord& record = record_of(run);
  return record.finished ? "Finished." : "Not finished: " + record.state + ".";
}

std::pair<int64_t, double> best_of(const MetricCurve& curve) {
  return *std::min_element(
      curve.values.begin(), curve.values.end(), [&](const auto& a, const auto& b) {
        return curve.lower_is_better ? a.second < b.second : a.second > b.second;
      });
}

PlotLine line_of(const MetricCurve& curve, int colour) {
  PlotLine line{.label = curve.evaluator, .colour = colour % kPlotColours, .points = {}};
  for (const auto& [step, value] : curve.values) {
    line.points.emplace_back(static_cast<double>(step), value);
  }
  return line;
}

// A plot per main metric of the evaluators; that of perplexity also shows training perplexity.
std::vector<Plot> plots_of(const SingleRun& run) {
  std::vector<Plot> plots;
  if (!run.training.empty()) {
    plots.push_back({.title = "perplexity", .x = {"updates", false}, .y = {"perplexity", true}});
    PlotLine line{.label = "training", .colour = 0, .points = {}};
    for (const CurvePoint& point : run.training) {
      line.points.emplace_back(static_cast<double>(point.step), point.ppl);
    }
    plots.back().lines.push_back(std::move(line));
  }
  for (const MetricCurve& curve : run.curves) {
    if (curve.title.empty() || curve.values.size() < 2) continue;
    auto plot = std::find_if(plots.begin(), plots.end(),
                             [&](const Plot& other) { return other.title == curve.title; });
    if (plot == plots.end()) {
      plots.push_back({.title = curve.title,
                       .x = {"updates", false},
                       .y = {curve.title, curve.lower_is_better}});
      plot = plots.end() - 1;
    }
    plot->lines.push_back(line_of(curve, static_cast<int>(plot->lines.size()) + 1));
  }
  return plots;
}

}  // namespace

Table scores_table(const SingleRun& run) {
  Table table;
  table.columns = {{"evaluator", "evaluator", true, "", ""},
                   {"metric", "metric", true, "", ""},
                   {"value", "value", false, "", "last evaluation"},
                   {"step", "step", false, "", "step of the last evaluation"},
                   {"best", "best", false, "", "best of all evaluations"},
                   {"best_step", "at step", false, "", "step of the best evaluation"}};
  for (const MetricCurve& curve : run.curves) {
    if (curve.values.empty()) continue;
    const auto& [step, value] = curve.values.back();
    std::vector<std::string> cells = {curve.evaluator, curve.metric, format("%.4g", value),
                                      std::to_string(step)};
    if (!curve.title.empty()) {
      const auto best = best_of(curve);
      cells[2] = format("%.2f", value);
      cells.push_back(format("%.2f", best.second));
      cells.push_back(std::to_string(best.first));
    }
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table evaluations_table(const SingleRun& run) {
  Table table;
  for (const char* key : {"step", "evaluator", "metric", "value"}) {
    table.columns.push_back({key, key, false, "", ""});
  }
  const auto add = [&](int64_t step, const std::string& evaluator, const std::string& metric,
                       double value) {
    table.rows.push_back({std::to_string(step), evaluator, metric, format("%.17g", value)});
  };
  for (const CurvePoint& point : run.training) add(point.step, "training", "ppl", point.ppl);
  for (const MetricCurve& curve : run.curves) {
    for (const auto& [step, value] : curve.values) add(step, curve.evaluator, curve.metric, value);
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
  out += paragraphs({state_of(run)}, "") + paragraphs(results.notes, "");
  out += "<h2>Scores</h2>\n" + to_html(scores_table(run));
  for (Plot& plot : plots_of(run)) {
    const bool training = plot.lines.front().label == "training";
    if (!plot.title.empty()) plot.title[0] = static_cast<char>(std::toupper(plot.title[0]));
    out += figure(plot, training ? "Training perplexity is the mean since the previous log line, "
                                   "with dropout; evaluators run without."
                                 : "");
  }
  return out + html_end(results);
}

}  // namespace attn
