#include "report/plot.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/plot_labels.h"
#include "report/scale.h"

namespace attn {
namespace {

constexpr double kText = 13.4, kTick = 11.0;  // font sizes; names have 12 and are bold: wider
constexpr double kLine = 13.0;                // height of a label
constexpr double kRadius = 4.0;               // radius of a point
constexpr double kTop = 26.0, kBottom = 38.0, kRight = 12.0;
constexpr double kGap = 8.0;  // between the plot and the labels at its right

struct Axes {
  Scale x, y;
  std::vector<double> x_ticks, y_ticks;
};

void widen(Interval& range, double value) {
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

// What the axes have to show; empty (low > high) without points.
std::pair<Interval, Interval> extents(const Plot& plot) {
  Interval x{INFINITY, -INFINITY}, y = x;
  const auto add = [&](double px, double py) {
    if (!drawable(px, plot.x.logarithmic) || !drawable(py, plot.y.logarithmic)) return;
    widen(x, px);
    widen(y, py);
  };
  for (const PlotLine& line : plot.lines) {
    for (const auto& [px, py] : line.points) add(px, py);
    for (const PlotLine::Band& band : line.band) {
      add(band.x, band.low);
      add(band.x, band.high);
    }
  }
  for (const PlotPoint& point : plot.points) {
    add(point.x, point.y);
    add(point.x, point.y - point.error.value_or(0));
    add(point.x, point.y + point.error.value_or(0));
  }
  return {x, y};
}

std::string value_text(double value) {
  return format(std::abs(value) < 10 ? "%.2f" : "%.1f", value);
}

// The text at a line's end: beyond the axis, with its value.
std::string end_label(const PlotLine& line, double value, const Scale& y) {
  if (y.holds(value)) return line.label;
  return line.label + (value > y.high ? " ↑ " : " ↓ ") + value_text(value);
}

// The last drawable point of a line.
std::optional<std::pair<double, double>> end_of(const PlotLine& line, const Plot& plot) {
  for (auto point = line.points.rbegin(); point != line.points.rend(); ++point) {
    if (drawable(point->first, plot.x.logarithmic) && drawable(point->second, plot.y.logarithmic)) {
      return *point;
    }
  }
  return {};
}

Axes make_axes(const Plot& plot, const Interval& x, const Interval& y) {
  Axes axes;
  axes.y = make_scale(plot.y.range.value_or(y), plot.y.logarithmic, plot.height - kBottom, kTop);
  const int max_ticks = std::clamp(static_cast<int>((axes.y.from - axes.y.to) / 30), 2, 8);
  axes.y_ticks = plot.y.ticks.empty()
                     ? axis_ticks(axes.y.low, axes.y.high, plot.y.logarithmic, max_ticks)
                     : plot.y.ticks;
  double left = 0, right = kRight;
  for (const double tick : axes.y_ticks) {
    left = std::max(left, text_width(tick_text(tick), kTick) + 7);
  }
  for (const PlotLine& line : plot.lines) {
    const auto end = end_of(line, plot);
    if (!end || line.label.empty()) continue;
    right = std::max(right, kGap + 2 + text_width(end_label(line, end->second, axes.y), kText));
  }
  right = std::min(right, plot.width * 0.4);
  axes.x = make_scale(x, plot.x.logarithmic, left, plot.width - right);
  if (plot.points.empty() && x.high > x.low) {  // lines begin and end at the plot's edges
    axes.x.low = x.low;
    axes.x.high = x.high;
  }
  const int across = std::clamp(static_cast<int>((axes.x.to - axes.x.from) / 64), 2, 10);
  axes.x_ticks = plot.x.ticks.empty()
                     ? axis_ticks(axes.x.low, axes.x.high, plot.x.logarithmic, across)
                     : plot.x.ticks;
  return axes;
}

void draw_axes(Svg& svg, const Plot& plot, const Axes& axes) {
  const double bottom = axes.y.from;
  for (const double tick : axes.y_ticks) {
    svg.line(axes.x.from, axes.y.at(tick), axes.x.to, axes.y.at(tick), "grid");
    svg.text(axes.x.from - 6, axes.y.at(tick) + 4, "end", "tick", tick_text(tick));
  }
  svg.line(axes.x.from, bottom, axes.x.to, bottom, "axis");
  double free_from = -INFINITY;
  for (const double tick : axes.x_ticks) {
    const std::string text = tick_text(tick);
    const double at = axes.x.at(tick), half = text_width(text, kTick) / 2;
    svg.line(at, bottom, at, bottom + 4, "axis");
    if (at - half < free_from) continue;  // the tick without its number
    // At the plot's ends a number must not run out of the picture.
    const double place = std::clamp(at, std::min(half, at), plot.width - half);
    svg.text(place, bottom + 16, "middle", "tick", text);
    free_from = at + half + 4;
  }
  svg.text(0, 11, "start", "axis-name", plot.y.label);
  svg.text(axes.x.to, bottom + 32, "end", "axis-name", plot.x.label);
}

// Corners of a path through the drawable points; for a band, there and back.
std::string polygon(const PlotLine& line, const Plot& plot, const Axes& axes) {
  std::string there, back;
  for (const PlotLine::Band& band : line.band) {
    if (!drawable(band.x, plot.x.logarithmic) || !drawable(band.low, plot.y.logarithmic) ||
        !drawable(band.high, plot.y.logarithmic)) {
      continue;
    }
    const double at = axes.x.at(band.x);
    there += format("%s%.1f %.1f", there.empty() ? "M" : "L", at, axes.y.at(band.high));
    back = format("L%.1f %.1f", at, axes.y.at(band.low)) + back;
  }
  return there.empty() ? "" : there + back + "Z";
}

std::string polyline(const PlotLine& line, const Plot& plot, const Axes& axes) {
  std::string path;
  for (const auto& [x, y] : line.points) {
    if (!drawable(x, plot.x.logarithmic) || !drawable(y, plot.y.logarithmic)) continue;
    path += format("%s%.1f %.1f", path.empty() ? "M" : "L", axes.x.at(x), axes.y.at(y));
  }
  return path;
}

void draw_lines(Svg& svg, const Plot& plot, const Axes& axes) {
  svg.open_clipped(axes.x.from, axes.y.to, axes.x.to - axes.x.from + 1, axes.y.from - axes.y.to);
  for (const PlotLine& line : plot.lines) {
    const std::string path = polyline(line, plot, axes), area = polygon(line, plot, axes);
    if (path.empty()) continue;
    svg.open("", line.hover);
    if (!area.empty()) svg.path(area, "band", line.colour);
    svg.path(path, "line", line.colour);
    svg.close();
  }
  svg.close();
}

// Names at the right, level with the lines' ends, pushed apart where lines end together.
void draw_line_names(Svg& svg, const Plot& plot, const Axes& axes) {
  std::vector<const PlotLine*> lines;
  std::vector<std::pair<double, double>> ends;
  std::vector<double> wanted;
  for (const PlotLine& line : plot.lines) {
    const auto end = end_of(line, plot);
    if (!end || line.label.empty()) continue;
    lines.push_back(&line);
    ends.push_back(*end);
    wanted.push_back(std::clamp(axes.y.at(end->second), axes.y.to, axes.y.from));
  }
  const std::vector<double> places =
      spread_labels(wanted, kLine, axes.y.to - kLine / 2, axes.y.from + kLine / 2);
  for (size_t i = 0; i < lines.size(); ++i) {
    const double end = axes.x.at(ends[i].first), to = axes.x.to;
    if (axes.y.holds(ends[i].second)) {
      // Dotted where the line ends before the others: its last value, carried on.
      if (to - end > kGap) svg.line(end, wanted[i], to, wanted[i], "dotted", lines[i]->colour);
      svg.line(std::max(end, to), wanted[i], to + kGap - 1, places[i], "leader", lines[i]->colour);
    }
    const std::string text = end_label(*lines[i], ends[i].second, axes.y);
    svg.open("", lines[i]->hover);
    svg.text(to + kGap, places[i] + 4, "start", "name",
             fitted_name(text, plot.width - to - kGap, kText), lines[i]->colour);
    svg.close();
  }
}

// A point beyond the axis: an arrow at the edge, with the value.
void draw_beyond(Svg& svg, const PlotPoint& point, const Axes& axes, PointLabels& labels) {
  const bool above = point.y > axes.y.high;
  const double x = axes.x.at(point.x), edge = above ? axes.y.to : axes.y.from;
  svg.arrow(x, edge, 0, above ? -1 : 1, "mark", point.colour);
  const std::string text = (point.label.empty() ? "" : point.label + " ") + value_text(point.y);
  const double y = edge + (above ? 6 : -6);
  labels.block({x - kRadius, y - 6, 2 * kRadius, 12});
  if (const auto box = labels.place(x, y, text_width(text, kText), kText)) {
    svg.text(box->x, box->y + kText - 2, "start", "name", text, point.colour);
  }
}

// Keeps labels away from lines and error bars.
void block_lines(PointLabels& labels, const Plot& plot, const Axes& axes) {
  constexpr double kStep = 6.0;  // pixels
  for (const PlotLine& line : plot.lines) {
    for (size_t i = 1; i < line.points.size(); ++i) {
      const auto& [x1, y1] = line.points[i - 1];
      const auto& [x2, y2] = line.points[i];
      if (!drawable(x1, plot.x.logarithmic) || !drawable(y1, plot.y.logarithmic) ||
          !drawable(x2, plot.x.logarithmic) || !drawable(y2, plot.y.logarithmic)) {
        continue;
      }
      const double fx = axes.x.at(x1), fy = axes.y.at(y1);
      const double dx = axes.x.at(x2) - fx, dy = axes.y.at(y2) - fy;
      const double steps = std::clamp(std::ceil(std::hypot(dx, dy) / kStep), 1.0, 400.0);
      for (double k = 0; k <= steps; ++k) {
        labels.block({fx + dx * k / steps - 2, fy + dy * k / steps - 2, 4, 4});
      }
    }
  }
  for (const PlotPoint& point : plot.points) {
    if (!point.error || !drawable(point.x, plot.x.logarithmic)) continue;
    const double low = point.y - *point.error, high = point.y + *point.error;
    if (!drawable(low, plot.y.logarithmic) || !drawable(high, plot.y.logarithmic)) continue;
    const double top = axes.y.at(high);
    labels.block({axes.x.at(point.x) - 1, top, 2, axes.y.at(low) - top});
  }
}

void draw_points(Svg& svg, const Plot& plot, const Axes& axes) {
  PointLabels labels(
      {axes.x.from, axes.y.to - kLine, plot.width - axes.x.from, axes.y.from - axes.y.to + kLine});
  block_lines(labels, plot, axes);
  std::vector<const PlotPoint*> shown;
  for (const PlotPoint& point : plot.points) {
    if (!drawable(point.x, plot.x.logarithmic) || !drawable(point.y, plot.y.logarithmic)) continue;
    shown.push_back(&point);
    if (!axes.y.holds(point.y)) continue;
    const double x = axes.x.at(point.x), y = axes.y.at(point.y);
    labels.block({x - kRadius, y - kRadius, 2 * kRadius, 2 * kRadius});
  }
  for (const PlotPoint* point : shown) {
    svg.open("", point->hover);
    const double x = axes.x.at(point->x), y = axes.y.at(point->y);
    if (!axes.y.holds(point->y)) {
      draw_beyond(svg, *point, axes, labels);
      svg.close();
      continue;
    }
    if (point->error) {
      const auto end = [&](double value) {
        return drawable(value, plot.y.logarithmic)
                   ? std::clamp(axes.y.at(value), axes.y.to, axes.y.from)
                   : axes.y.from;
      };
      svg.line(x, end(point->y - *point->error), x, end(point->y + *point->error), "error",
               point->colour);
    }
    svg.circle(x, y, kRadius, point->hollow ? "hollow" : "mark", point->colour);
    if (!point->label.empty()) {
      const double width = text_width(point->label, kText);
      if (const auto box = labels.place(x, y, width, kText)) {
        svg.text(box->x, box->y + kText - 2, "start", "name", point->label, point->colour);
      }
    }
    svg.close();
  }
}

}  // namespace

std::string to_svg(const Plot& plot) {
  const auto [x, y] = extents(plot);
  if (!(x.low <= x.high)) return "";
  const Axes axes = make_axes(plot, x, y);
  Svg svg(plot.width, plot.height, plot.description);
  draw_axes(svg, plot, axes);
  draw_lines(svg, plot, axes);
  draw_line_names(svg, plot, axes);
  draw_points(svg, plot, axes);
  return svg.str();
}

}  // namespace attn
