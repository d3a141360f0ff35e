#include "report/page_plots.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/format.h"
#include "report/numeric_grid.h"
#include "report/scale.h"
#include "report/summary.h"
#include "report/table.h"

namespace attn {
namespace {

constexpr size_t kMaxLines = kCategoricalColours;  // in one panel, besides the first row's

// Colour of a point in a forest plot: whether it agrees with the paper, where the paper has
// results.
Colour colour_of(const Difference& difference) {
  if (!difference.significant) return "faint";
  if (difference.verdict == Verdict::disagrees) return "contrary";
  return difference.verdict == Verdict::agrees || !difference.paper ? "accent" : "ink";
}

// Shown in place of a difference.
std::string missing_difference(const SweepResults& results, const RowRecord& row) {
  const std::string state = missing_state(row);
  const bool alone = state.empty() && !missing_state(results.rows[row.baseline]).empty();
  return alone ? "no baseline" : state;
}

Forest::Cell forest_cell(const SweepResults& results, const RowRecord& row,
                         const Difference& difference) {
  Forest::Cell cell{.ours = difference.ours,
                    .interval = {},
                    .paper = difference.paper,
                    .significant = difference.significant,
                    .colour = colour_of(difference),
                    .state = missing_difference(results, row)};
  if (difference.test) {
    cell.interval = difference.test->interval;
  } else if (difference.joint) {
    cell.interval = difference.joint->interval;
  }
  return cell;
}

// "BLEU −1.11, 95 % interval −2.00 to −0.22; the paper: −0.9: agrees".
std::string hover_text(const MetricFacts& facts, const Forest::Cell& cell,
                       const Difference& difference) {
  if (!cell.ours) return "";
  const auto number = [](double value) { return signed_number(value, kScoreDecimals); };
  std::string text = "\n";
  text.append(facts.heading).append(" ").append(number(*cell.ours));
  if (cell.interval) {
    text.append(", 95 % interval ").append(number(cell.interval->low));
    text.append(" to ").append(number(cell.interval->high));
  }
  if (difference.holm) text.append(", p (Holm) ").append(p_text(*difference.holm));
  if (!cell.paper) return text;
  text.append("; in the paper ").append(signed_number(*cell.paper, facts.paper_decimals));
  const std::string verdict = verdict_word(difference.verdict);
  return verdict.empty() ? text : text + ": " + verdict;
}

// "vs. pre_norm: scale_norm": what a row is, and its baseline where that is not the first row.
std::string forest_words(const SweepResults& results, const RowRecord& row) {
  if (row.baseline == 0) return row_words(row);
  return "vs. " + results.rows[row.baseline].name + ": " + row_words(row);
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// One row's mean curve over its seeds, with the range of the seeds.
PlotLine curve_of(const RowRecord& row, const std::string& label, const Colour& colour) {
  PlotLine line{
      .label = label, .hover = row_hover(row), .colour = colour, .points = {}, .band = {}};
  const bool any_finished = std::any_of(row.runs.begin(), row.runs.end(),
                                        [](const RunRecord& run) { return run.is_finished(); });
  std::map<int64_t, std::vector<double>> values;  // by step
  for (const RunRecord& run : row.runs) {
    if (any_finished && !run.is_finished()) continue;
    for (const CurvePoint& point : run.curve) {
      if (drawable(point.ppl, true)) values[point.step].push_back(point.ppl);
    }
  }
  for (const auto& [step, ppls] : values) {
    const auto [low, high] = std::minmax_element(ppls.begin(), ppls.end());
    const auto x = static_cast<double>(step);
    line.points.emplace_back(x, mean_of(ppls));
    line.band.push_back({x, *low, *high});
  }
  const bool one_seed = std::all_of(values.begin(), values.end(),
                                    [](const auto& at) { return at.second.size() == 1; });
  if (one_seed) line.band.clear();
  return line;
}

// The ordinate of all learning curves.
Interval curve_range(const std::vector<PlotLine>& lines) {
  constexpr double kAbove = 1.6;  // times the last value of the worst row that is no outlier
  std::vector<double> ends, all;
  for (const PlotLine& line : lines) {
    if (!line.points.empty()) ends.push_back(std::log(line.points.back().second));
    for (const auto& [step, ppl] : line.points) all.push_back(std::log(ppl));
    for (const PlotLine::Band& band : line.band) all.push_back(std::log(band.low));
  }
  if (all.empty()) return {1, 2};
  const Interval range = robust_range(ends, ends.front());
  const double highest = *std::max_element(all.begin(), all.end());
  const double high = std::min(highest, range.high + std::log(kAbove));
  double low = range.low;
  for (const double value : all) {
    if (value >= range.low - 0.1 * (high - range.low)) low = std::min(low, value);
  }
  return {std::exp(low), std::exp(std::max(high, low + 1e-3))};
}

// The rows of a group in panels of at most kMaxLines.
std::vector<RowGroup> panels_of(const RowGroup& group) {
  const size_t count = (group.rows.size() + kMaxLines - 1) / kMaxLines;
  const size_t each = (group.rows.size() + count - 1) / count;
  std::vector<RowGroup> panels;
  for (size_t begin = 0; begin < group.rows.size(); begin += each) {
    const size_t end = std::min(begin + each, group.rows.size());
    panels.push_back(group);
    const auto at = [&](size_t i) { return group.rows.begin() + static_cast<ptrdiff_t>(i); };
    panels.back().rows.assign(at(begin), at(end));
  }
  for (size_t k = 0; count > 1 && k < panels.size(); ++k) {
    panels[k].options += format(" (%zu of %zu)", k + 1, panels.size());
  }
  return panels;
}

// Ordered colours for the rows of a numeric grid, categorical ones for others.
Colour colour_in_group(const RowGroup& group, size_t k, bool ordered) {
  if (!ordered) return categorical_colour(k);
  const size_t last = group.rows.size() - 1;
  return sequential_colour(last == 0 ? 0.5 : static_cast<double>(k) / static_cast<double>(last));
}

bool is_grid(const RowGroup& group) {
  return group.rows.size() > 1 && !group.prefix.empty();
}

// A row's mean BLEU with heads masked, over the seeds that have it.
PlotLine pruning_of(const RowRecord& row, const std::string& label, const Colour& colour) {
  PlotLine line{
      .label = label, .hover = row_hover(row), .colour = colour, .points = {}, .band = {}};
  std::map<double, std::vector<double>> scores;  // by percentage
  for (const RunRecord& run : row.runs) {
    for (const PruningPoint& point : run.pruning) {
      scores[100.0 * point.masked].push_back(point.bleu);
    }
  }
  for (const auto& [masked, values] : scores) line.points.emplace_back(masked, mean_of(values));
  return line;
}

// Panels with a line for each row: one for each group (several for large ones), the first row in
// each, or one with the first row alone. Panels without another line are left out.
template <class LineOf>
std::vector<PlotPanel> line_panels(const SweepResults& results, std::span<const RowGroup> groups,
                                   LineOf line_of) {
  std::vector<PlotPanel> panels;
  if (results.rows.empty()) return panels;
  const PlotLine base = line_of(results.rows.front(), results.rows.front().name, "base");
  std::vector<RowGroup> shown;
  for (const RowGroup& group : groups) {
    for (RowGroup& panel : panels_of(group)) shown.push_back(std::move(panel));
  }
  if (shown.empty()) {
    shown.push_back({.name = results.rows.front().name, .options = {}, .rows = {}});
  }
  for (const RowGroup& group : shown) {
    PlotPanel panel{.heading = group.name, .words = group.options, .plot = {}};
    if (!base.points.empty()) panel.plot.lines.push_back(base);
    const bool ordered = is_grid(group) && numeric_grid(results, group).has_value();
    for (size_t k = 0; k < group.rows.size(); ++k) {
      const RowRecord& row = results.rows[group.rows[k]];
      PlotLine line = line_of(row, name_in_group(row, group), colour_in_group(group, k, ordered));
      if (!line.points.empty()) panel.plot.lines.push_back(std::move(line));
    }
    if (panel.plot.lines.size() > (group.rows.empty() || base.points.empty() ? 0 : 1)) {
      panels.push_back(std::move(panel));
    }
  }
  return panels;
}

double mean_flops(const RowRecord& row) {
  double sum = 0.0, count = 0.0;
  for (const RunRecord& run : row.runs) {
    if (!run.is_finished()) continue;
    sum += run.flops;
    ++count;
  }
  return count > 0 ? sum / count : NAN;
}

// The range of these values where robust_range leaves some out; empty: show all.
std::optional<Interval> without_outliers(const std::vector<double>& values, double centre) {
  const Interval range = robust_range(values, centre);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low >= range.low && *high <= range.high) return {};
  return range;
}

PlotPoint point_of(const RowRecord& row, const SeedMean& mean, double x, const MetricFacts& facts) {
  return {.label = {},
          .hover = row_hover(row) + "\n" + facts.heading + " " + mean_text(mean),
          .colour = "ink",
          .x = x,
          .y = mean.mean,
          .error = mean.deviation,
          .hollow = false};
}

PlotPanel option_plot(const SweepResults& results, std::span<const RowComparison> comparisons,
                      const RowGroup& group, const NumericGrid& grid, const MetricFacts& facts) {
  const std::string option = option_name(grid.path);
  PlotPanel panel{
      .heading = group.name, .words = std::string(facts.name) + " against " + option, .plot = {}};
  Plot& plot = panel.plot;
  plot.description = panel.words;
  plot.y.label = std::string(facts.heading) + ", " + results.evaluators[facts.metric];
  plot.x.label = option;
  std::vector<double> means;
  for (size_t k = 0; k < grid.series.size(); ++k) {
    const NumericGrid::Series& series = grid.series[k];
    const Colour colour = grid.series.size() == 1 ? "accent" : categorical_colour(k);
    PlotLine line{
        .label = series.label, .hover = series.label, .colour = colour, .points = {}, .band = {}};
    for (const auto& [value, row] : series.entries) {
      const auto& mean = comparisons[row].means[facts.metric];
      if (!mean) continue;
      line.points.emplace_back(value, mean->mean);
      means.push_back(mean->mean);
      plot.points.push_back(point_of(results.rows[row], *mean, value, facts));
      plot.points.back().colour = row == 0 ? "base" : colour;
      if (row == 0) plot.points.back().label = results.rows[row].name;
      plot.x.ticks.push_back(value);
    }
    plot.lines.push_back(std::move(line));
  }
  if (means.empty()) return panel;
  std::sort(means.begin(), means.end());
  plot.y.range = without_outliers(means, means[means.size() / 2]);
  std::sort(plot.x.ticks.begin(), plot.x.ticks.end());
  plot.x.ticks.erase(std::unique(plot.x.ticks.begin(), plot.x.ticks.end()), plot.x.ticks.end());
  plot.x.logarithmic = plot.x.ticks.front() > 0 && plot.x.ticks.back() >= 8 * plot.x.ticks.front();
  return panel;
}

}  // namespace

Forest differences_forest(const SweepResults& results, std::span<const RowComparison> comparisons,
                          std::span<const RowGroup> groups) {
  Forest forest;
  std::vector<size_t> rows;
  for (const RowGroup& group : groups) {
    for (const size_t row : group.rows) {
      const RowRecord& record = results.rows[row];
      forest.rows.push_back(
          {.name = record.name,
           .words = forest_words(results, record),
           .hover = row_hover(record),
           .new_group = row == group.rows.front(),
           .heading = group.given && row == group.rows.front() ? group.name : ""});
      rows.push_back(row);
    }
  }
  for (const MetricFacts& facts : metrics_by_interest(results)) {
    Forest::Panel panel{
        .metric = facts.name,
        .title = std::string(facts.heading) + ", " + results.evaluators[facts.metric],
        .base = results.rows.front().name + " " +
                mean_text(comparisons.front().means[facts.metric]) +
                (has_baselines(results) ? ", or the row after \"vs.\"" : ""),
        .lower_is_better = facts.lower_is_better,
        .paper_decimals = facts.paper_decimals,
        .cells = {}};
    for (size_t i = 0; i < rows.size(); ++i) {
      const Difference& difference = comparisons[rows[i]].differences[facts.metric];
      panel.cells.push_back(forest_cell(results, results.rows[rows[i]], difference));
      forest.rows[i].hover += hover_text(facts, panel.cells.back(), difference);
    }
    const bool any = std::any_of(panel.cells.begin(), panel.cells.end(),
                                 [](const Forest::Cell& cell) { return cell.ours.has_value(); });
    if (any) forest.panels.push_back(std::move(panel));
  }
  return forest;
}

std::vector<PlotPanel> learning_curves(const SweepResults& results,
                                       std::span<const RowGroup> groups) {
  std::vector<PlotPanel> panels = line_panels(results, groups, curve_of);
  std::vector<PlotLine> all;
  for (const PlotPanel& panel : panels) {
    const auto& lines = panel.plot.lines;
    // Every panel begins with the first row's line.
    const bool first = all.empty() || lines.front().colour != "base";
    all.insert(all.end(), lines.begin() + (first ? 0 : 1), lines.end());
  }
  for (PlotPanel& panel : panels) {
    panel.plot.description = "learning curves: " + panel.heading;
    panel.plot.x.label = "updates";
    panel.plot.y.label = "perplexity, " + results.evaluators[Metric::loss];
    panel.plot.y.logarithmic = true;
    panel.plot.y.range = curve_range(all);
  }
  return panels;
}

std::vector<PlotPanel> pruning_curves(const SweepResults& results,
                                      std::span<const RowGroup> groups) {
  std::vector<PlotPanel> panels = line_panels(results, groups, pruning_of);
  for (PlotPanel& panel : panels) {
    panel.plot.description = "BLEU without heads: " + panel.heading;
    panel.plot.x.label = "% of heads masked";
    panel.plot.y.label = "BLEU";
  }
  return panels;
}

std::vector<PlotPanel> option_plots(const SweepResults& results,
                                    std::span<const RowComparison> comparisons,
                                    std::span<const RowGroup> groups) {
  std::vector<PlotPanel> panels;
  for (const RowGroup& group : groups) {
    const auto grid = numeric_grid(results, group);
    if (!grid) continue;
    for (const MetricFacts& facts : metrics_by_interest(results)) {
      PlotPanel panel = option_plot(results, comparisons, group, *grid, facts);
      if (panel.plot.points.size() >= 3) panels.push_back(std::move(panel));
    }
  }
  return panels;
}

Plot cost_plot(const SweepResults& results, std::span<const RowComparison> comparisons,
               std::span<const RowGroup> groups) {
  constexpr double kSame = 1.02;  // ratio
  Plot plot{.description = {}, .x = {"training FLOPs", true}, .y = {}, .lines = {}, .points = {}};
  const std::vector<MetricFacts> metrics = metrics_by_interest(results);
  if (metrics.empty()) return plot;
  const MetricFacts& facts = metrics.front();
  plot.y.label = std::string(facts.heading) + ", " + results.evaluators[facts.metric];
  plot.description = std::string(facts.name) + " against training FLOPs";
  std::vector<double> means;
  Interval flops{INFINITY, -INFINITY};
  const auto add = [&](size_t row, const Colour& colour) {
    const auto& mean = comparisons[row].means[facts.metric];
    const double x = mean_flops(results.rows[row]);
    if (!mean || !drawable(x, true) || !std::isfinite(mean->mean)) return;
    means.push_back(mean->mean);
    flops = {std::min(flops.low, x), std::max(flops.high, x)};
    plot.points.push_back(point_of(results.rows[row], *mean, x, facts));
    plot.points.back().colour = colour;
    plot.points.back().label = results.rows[row].name;
  };
  if (!results.rows.empty()) add(0, "base");
  for (size_t k = 0; k < groups.size(); ++k) {
    for (const size_t row : groups[k].rows) add(row, categorical_colour(k));
  }
  if (means.size() < 3 || flops.high < kSame * flops.low) {
    plot.points.clear();
    return plot;
  }
  plot.y.range = without_outliers(means, means.front());
  return plot;
}

}  // namespace attn
