// Plots of lines and points, as SVG.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/statistics.h"
#include "report/svg.h"

namespace attn {

struct PlotAxis {
  std::string label;  ///< with unit
  bool logarithmic = false;
  /// What is shown; what lies beyond is cut off and marked with its value. Empty: all. x: always
  /// all.
  std::optional<Interval> range;
  std::vector<double> ticks;  ///< empty: round numbers
};

struct PlotLine {
  struct Band {
    double x = 0.0, low = 0.0, high = 0.0;
  };
  std::string label;  ///< at the right, level with the line's end; empty: none
  std::string hover;
  Colour colour = "ink";
  std::vector<std::pair<double, double>> points;
  std::vector<Band> band;  ///< shaded, around the line
};

struct PlotPoint {
  std::string label;  ///< beside the point, if there is room; empty: none
  std::string hover;
  Colour colour = "ink";
  double x = 0.0, y = 0.0;
  std::optional<double> error;  ///< half the length of the error bar
  bool hollow = false;
};

struct Plot {
  std::string description;  ///< for screen readers
  PlotAxis x, y;
  std::vector<PlotLine> lines;    ///< later ones above earlier ones
  std::vector<PlotPoint> points;  ///< earlier ones get labels first
  double width = 380.0, height = 250.0;
};

/// Text has the size of the page's, so that the page should show the plot at about its width.
/// Points that are not finite, or not positive on a logarithmic axis, are skipped; a plot without
/// points is "".
std::string to_svg(const Plot& plot);

}  // namespace attn
