#include "report/forest_plot.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/comparison.h"
#include "report/scale.h"
#include "report/table.h"

namespace attn {
namespace {

constexpr double kText = 13.4, kSmall = 11.0;  // font sizes; names have 12 and are bold: wider
constexpr double kRadius = 4.2;                // radius of a point
constexpr double kHeader = 46.0;               // above the first row
constexpr double kFooter = 44.0;               // the axis
constexpr double kGroupGap = 9.0;              // between groups
constexpr double kHeading = 21.0;  // space for the heading of a group, above its first row
constexpr double kOurs = 58.0, kPaper = 46.0;  // widths of the columns of numbers

// Where the rows are.
struct Layout {
  double width = 0.0;
  double row_height = 0.0;
  double mark = 0.0;        // ordinate of a row's marks, below its upper edge
  std::vector<double> top;  // upper edges of the rows
  double bottom = 0.0;      // lower edge of the last row
};

Layout lay_out(const Forest& forest, double width, double row_height, double mark) {
  Layout layout{.width = width, .row_height = row_height, .mark = mark, .top = {}, .bottom = 0};
  double y = kHeader;
  for (size_t i = 0; i < forest.rows.size(); ++i) {
    if (i > 0 && forest.rows[i].new_group) y += kGroupGap;
    if (!forest.rows[i].heading.empty()) y += kHeading;
    layout.top.push_back(y);
    y += row_height;
  }
  layout.bottom = y;
  return layout;
}

// The axis of a panel between these pixels. Rows in proportion set it; intervals and the paper's
// differences extend it moderately.
Scale scale_of(const Forest::Panel& panel, double left, double right) {
  constexpr double kIntervals = 1.6, kPapers = 2.5;
  std::vector<double> ours, papers;
  for (const Forest::Cell& cell : panel.cells) {
    if (cell.ours) ours.push_back(*cell.ours);
    if (cell.paper) papers.push_back(*cell.paper);
  }
  Interval range = robust_range(ours.empty() ? papers : ours, 0.0);
  const double extent = std::max(-range.low, range.high);
  const auto widen = [&](double value, double limit) {
    if (!std::isfinite(value)) return;
    range.low = std::min(range.low, std::max(value, -limit));
    range.high = std::max(range.high, std::min(value, limit));
  };
  for (const double paper : papers) {
    if (std::abs(paper) <= kPapers * extent) widen(paper, INFINITY);
  }
  for (const Forest::Cell& cell : panel.cells) {
    if (!cell.ours || !cell.interval || std::abs(*cell.ours) > extent) continue;
    widen(cell.interval->low, kIntervals * extent);
    widen(cell.interval->high, kIntervals * extent);
  }
  if (panel.lower_is_better) std::swap(left, right);
  return make_scale(range, false, left, right);
}

void draw_header(Svg& svg, const Forest::Panel& panel, double left, double numbers_end) {
  svg.text(left, 14, "start", "title", panel.title);
  svg.text(left, 31, "start", "tick", panel.base);
  const bool paper = std::any_of(panel.cells.begin(), panel.cells.end(),
                                 [](const Forest::Cell& cell) { return cell.paper.has_value(); });
  const double ours_end = paper ? numbers_end - kPaper : numbers_end;
  svg.text(ours_end, 31, "end", "tick", "ours");
  if (paper) svg.text(numbers_end, 31, "end", "tick", "paper");
}

void draw_axis(Svg& svg, const Forest::Panel& panel, const Scale& scale, const Layout& layout) {
  const double left = std::min(scale.from, scale.to), right = std::max(scale.from, scale.to);
  const double top = kHeader - 4, bottom = layout.bottom + 4;
  const int max_ticks = std::clamp(static_cast<int>((right - left) / 52), 2, 9);
  for (const double tick : axis_ticks(scale.low, scale.high, false, max_ticks)) {
    const double x = scale.at(tick);
    svg.line(x, top, x, bottom, tick == 0 ? "zero" : "grid");
    const std::string text = format(tick > 0 ? "+%s" : "%s", tick_text(tick).c_str());
    const double half = text_width(text, kSmall) / 2;
    svg.text(std::clamp(x, half, layout.width - half), bottom + 14, "middle", "tick", text);
  }
  svg.line(left, bottom, right, bottom, "axis");
  svg.text(left, bottom + 32, "start", "tick", "← worse");
  svg.text(right, bottom + 32, "end", "tick", "better →");
  svg.text((left + right) / 2, bottom + 32, "middle", "axis-name", "Δ " + panel.metric);
}

// One end of an interval that is beyond the axis.
void draw_chevron(Svg& svg, double x, double y, double direction, const Colour& colour) {
  svg.path(format("M%.1f %.1fL%.1f %.1fL%.1f %.1f", x - 4 * direction, y - 3.5, x, y,
                  x - 4 * direction, y + 3.5),
           "interval", colour);
}

void draw_interval(Svg& svg, const Interval& interval, const Scale& scale, double y,
                   const Colour& colour) {
  const double left = std::min(scale.from, scale.to), right = std::max(scale.from, scale.to);
  const double a = scale.at(interval.low), b = scale.at(interval.high);
  const double from = std::min(a, b), to = std::max(a, b);
  if (!std::isfinite(from) || !std::isfinite(to) || to < left || from > right) return;
  svg.line(std::max(from, left), y, std::min(to, right), y, "interval", colour);
  if (from < left) draw_chevron(svg, left, y, -1, colour);
  if (to > right) draw_chevron(svg, right, y, 1, colour);
}

// The paper's difference: a diamond, or at the edge, pointing outwards, half of one.
void draw_paper(Svg& svg, double value, const Scale& scale, double y) {
  const double left = std::min(scale.from, scale.to), right = std::max(scale.from, scale.to);
  const double x = std::clamp(scale.at(value), left, right), r = kRadius + 0.8;
  const double to_left = scale.at(value) > right ? 0 : r, to_right = scale.at(value) < left ? 0 : r;
  svg.path(format("M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ", x, y - r, x + to_right, y, x, y + r,
                  x - to_left, y),
           "paper");
}

void draw_ours(Svg& svg, const Forest::Cell& cell, const Scale& scale, double y) {
  const double value = *cell.ours;
  const double left = std::min(scale.from, scale.to), right = std::max(scale.from, scale.to);
  const double x = scale.at(value);
  if (scale.holds(value)) {
    svg.circle(x, y, kRadius, cell.significant ? "mark" : "hollow", cell.colour);
    return;
  }
  const bool at_right = x > right;
  const double edge = at_right ? right : left, inwards = at_right ? -1 : 1;
  svg.arrow(edge, y, -inwards, 0, cell.significant ? "mark" : "hollow", cell.colour);
  const std::string text = signed_number(value, kScoreDecimals);
  const double end = edge + inwards * (14 + text_width(text, kText));
  const double paper = cell.paper ? scale.at(*cell.paper) : INFINITY;
  const bool in_the_way = paper > std::min(edge, end) - 8 && paper < std::max(edge, end) + 8;
  if (!in_the_way) {
    svg.text(edge + inwards * 14, y + 4, at_right ? "end" : "start", "name", text, cell.colour);
  }
}

void draw_cell(Svg& svg, const Forest::Panel& panel, const Forest::Cell& cell, const Scale& scale,
               double y, double number_y, double numbers_end) {
  const bool paper = std::any_of(panel.cells.begin(), panel.cells.end(),
                                 [](const Forest::Cell& other) { return other.paper.has_value(); });
  if (cell.paper) {
    draw_paper(svg, *cell.paper, scale, y);
    svg.text(numbers_end, number_y, "end", "tick",
             signed_number(*cell.paper, panel.paper_decimals));
  }
  if (cell.ours && std::isfinite(*cell.ours)) {
    if (cell.interval) draw_interval(svg, *cell.interval, scale, y, cell.colour);
    draw_ours(svg, cell, scale, y);
    svg.text(numbers_end - (paper ? kPaper : 0), number_y, "end",
             cell.significant ? "number strong" : "number",
             signed_number(*cell.ours, kScoreDecimals), cell.significant ? cell.colour : "ink");
  } else {
    svg.text(numbers_end - (paper ? kPaper : 0), number_y, "end", "tick", cell.state);
  }
}

double longest_name(const Forest& forest) {
  double width = 0;
  for (const Forest::Row& row : forest.rows) width = std::max(width, text_width(row.name, kText));
  return width;
}

// The lines between groups and their headings.
void draw_groups(Svg& svg, const Forest& forest, const Layout& layout) {
  for (size_t i = 0; i < forest.rows.size(); ++i) {
    const Forest::Row& row = forest.rows[i];
    const double top = layout.top[i] - (row.heading.empty() ? 0 : kHeading);
    if (i > 0 && row.new_group) {
      svg.line(0, top - kGroupGap / 2, layout.width, top - kGroupGap / 2, "grid");
    }
    if (row.heading.empty()) continue;
    svg.text(0, top + 15, "start", "heading", fitted_text(row.heading, layout.width, kSmall));
  }
}

}  // namespace

std::string wide_forest(const Forest& forest) {
  constexpr double kWidth = 1240, kBetween = 28, kMaxName = 210, kMaxWords = 300;
  const Layout layout = lay_out(forest, kWidth, 23, 11.5);
  const double names = std::min(longest_name(forest), kMaxName) + 14;
  double words = 0;
  for (const Forest::Row& row : forest.rows) {
    words = std::max(words, text_width(row.words, kSmall));
  }
  words = std::min(words, kMaxWords);
  const auto count = static_cast<double>(forest.panels.size());
  const double numbers = kOurs + kPaper;
  const double plot = (kWidth - names - words - count * (kBetween + numbers)) / count;
  std::vector<Scale> scales;
  std::vector<double> lefts;
  for (size_t k = 0; k < forest.panels.size(); ++k) {
    lefts.push_back(names + words + kBetween +
                    static_cast<double>(k) * (plot + numbers + kBetween));
    scales.push_back(scale_of(forest.panels[k], lefts[k], lefts[k] + plot));
  }
  Svg svg(kWidth, layout.bottom + kFooter, "differences from the baseline");
  for (size_t k = 0; k < forest.panels.size(); ++k) {
    draw_header(svg, forest.panels[k], lefts[k], lefts[k] + plot + numbers);
    draw_axis(svg, forest.panels[k], scales[k], layout);
  }
  draw_groups(svg, forest, layout);
  for (size_t i = 0; i < forest.rows.size(); ++i) {
    const Forest::Row& row = forest.rows[i];
    const double y = layout.top[i] + layout.mark;
    svg.open("row", row.hover);
    svg.rectangle(0, layout.top[i], kWidth, layout.row_height, "touch");
    svg.text(0, y + 4, "start", "name", fitted_name(row.name, names - 14, kText), "ink");
    svg.text(names, y + 4, "start", "words", fitted_text(row.words, words, kSmall));
    for (size_t k = 0; k < forest.panels.size(); ++k) {
      draw_cell(svg, forest.panels[k], forest.panels[k].cells[i], scales[k], y, y + 4,
                lefts[k] + plot + numbers);
    }
    svg.close();
  }
  return svg.str();
}

std::string narrow_forest(const Forest& forest, const Forest::Panel& panel) {
  constexpr double kWidth = 360, kEdge = 6;
  const Layout layout = lay_out(forest, kWidth, 38, 27);
  const Scale scale = scale_of(panel, kEdge, kWidth - kEdge);
  Svg svg(kWidth, layout.bottom + kFooter, "differences from the baseline in " + panel.metric);
  draw_header(svg, panel, 0, kWidth);
  draw_axis(svg, panel, scale, layout);
  draw_groups(svg, forest, layout);
  const double room = kWidth - kOurs - kPaper - 4;
  for (size_t i = 0; i < forest.rows.size(); ++i) {
    const Forest::Row& row = forest.rows[i];
    const double text = layout.top[i] + 14;
    svg.open("row", row.hover);
    svg.rectangle(0, layout.top[i], kWidth, layout.row_height, "touch");
    const std::string name = fitted_name(row.name, room, kText);
    const double used = text_width(name, kText) + 8;
    svg.text(0, text, "start", "name", name, "ink");
    if (room - used > 40) {
      svg.text(used, text, "start", "words", fitted_text(row.words, room - used, kSmall));
    }
    draw_cell(svg, panel, panel.cells[i], scale, layout.top[i] + layout.mark, text, kWidth);
    svg.close();
  }
  return svg.str();
}

}  // namespace attn
