// Self-contained SVG plots.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attn {

struct PlotAxis {
  std::string label;  ///< with unit
  bool logarithmic = false;
};

struct PlotLine {
  std::string label;  ///< at the end of the line
  int colour = 0;     ///< index into the page's palette, 0 to kPlotColours - 1
  std::vector<std::pair<double, double>> points;
};

struct PlotPoint {
  std::string label;
  int colour = 0;
  double x = 0.0, y = 0.0;
  std::optional<double> error;  ///< half the length of the error bar
  bool hollow = false;          ///< not significant
};

inline constexpr int kPlotColours = 8;

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotLine> lines;
  std::vector<PlotPoint> points;
  bool zero_lines = false;  ///< draws the lines x = 0 and y = 0
};

/// The plot in a box of width × height pixels; text has a fixed size, so small screens need their
/// own plot. Colours are the CSS variables --c0 … --c7, --ink and --faint. Points that are not
/// finite, or not positive on a logarithmic axis, are skipped; a plot without points is "".
std::string to_svg(const Plot& plot, double width, double height);

/// Ticks of an axis: round numbers that cover [low, high] (1, 2 or 5 times a power of ten; on a
/// logarithmic axis also 3 and 7 times), from two to about `most`.
std::vector<double> axis_ticks(double low, double high, bool logarithmic, int most);

}  // namespace attn
