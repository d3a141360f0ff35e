// Axes of plots: scales, ticks, and ranges that are robust to outliers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/statistics.h"

namespace attn {

/// From values to pixels.
struct Scale {
  bool logarithmic = false;
  double low = 0.0, high = 1.0;  ///< values at the ends of the axis
  double from = 0.0, to = 1.0;   ///< their pixels

  double at(double value) const;
  bool holds(double value) const { return value >= low && value <= high; }
};

/// The scale of these values with a margin at both ends; never empty.
Scale make_scale(const Interval& range, bool logarithmic, double from, double to);

/// Whether an axis can show the value: finite, and positive on a logarithmic one.
bool drawable(double value, bool logarithmic);

/// The range of `centre` and the values, without outliers: those farther from the centre than six
/// times the third quartile of the distances. With fewer than three values none is an outlier.
/// Values that are not finite are ignored.
Interval robust_range(std::span<const double> values, double centre);

/// Ticks of an axis: round numbers within [low, high] (1, 2 or 5 times a power of ten; on a
/// logarithmic axis also 3 and 7 times), from two to about `max_ticks`.
std::vector<double> axis_ticks(double low, double high, bool logarithmic, int max_ticks);

/// "1,000", "0.02", "−3", "4.25e10".
std::string tick_text(double value);

}  // namespace attn
