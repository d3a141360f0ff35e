// Plots as SVG text, for pages that must stand on their own: no script, no font, no file beside.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attn {

struct PlotAxis {
  std::string label;  ///< with its unit
  bool logarithmic = false;
};

struct PlotLine {
  std::string label;  ///< at the line's end
  int colour = 0;     ///< of the page's palette, 0 to kPlotColours - 1
  std::vector<std::pair<double, double>> points;
};

struct PlotPoint {
  std::string label;
  int colour = 0;
  double x = 0.0, y = 0.0;
  std::optional<double> error;  ///< half the length of a bar through it, in y
  bool hollow = false;          ///< for what is not significant
};

inline constexpr int kPlotColours = 8;

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotLine> lines;
  std::vector<PlotPoint> points;
  bool zero_lines = false;  ///< through 0 in both directions
};

/// The plot in a box of so many pixels (text is 12 high whatever the size: small screens get a plot
/// of their own). Colours are the page's CSS variables --c0 … --c7, --ink and --faint. Points that
/// are not finite, or not positive on a logarithmic axis, are left out; a plot without any is "".
std::string to_svg(const Plot& plot, double width, double height);

/// Values for an axis' marks: round numbers that cover [low, high] (1, 2 or 5 times a power
/// of ten; on a logarithmic axis 3 and 7 times too where there is room), two to about `most` of
/// them.
std::vector<double> axis_ticks(double low, double high, bool logarithmic, int most);

}  // namespace attn
