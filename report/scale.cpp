#include "report/scale.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/format.h"

namespace attn {
namespace {

constexpr double kMargin = 0.05;  // share of the range, at each end
constexpr double kFence = 6.0;

// "4.25e10".
std::string scientific(double value) {
  const std::string whole = format("%.2e", value);
  const size_t e = whole.find('e');
  std::string mantissa = whole.substr(0, e);
  while (mantissa.back() == '0') mantissa.pop_back();
  if (mantissa.back() == '.') mantissa.pop_back();
  return mantissa + "e" + std::to_string(std::atoi(whole.c_str() + e + 1));
}

// Ticks of a logarithmic axis, as many per power of ten as fit, or every k-th power of ten; fewer
// than two for short axes.
std::vector<double> logarithmic_ticks(double low, double high, int max_ticks) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::log10(low))),
            last = static_cast<int>(std::floor(std::log10(high)));
  const auto add = [&](const std::vector<double>& digits, int step) {
    ticks.clear();
    for (int exponent = first; exponent <= last; exponent += step) {
      for (const double digit : digits) {
        const double tick = digit * std::pow(10, exponent);
        if (tick >= low && tick <= high) ticks.push_back(tick);
      }
    }
    return static_cast<int>(ticks.size()) <= max_ticks;
  };
  for (const std::vector<double>& digits :
       {std::vector<double>{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}}) {
    if (add(digits, 1)) return ticks;
  }
  add({1}, (last - first) / max_ticks + 1);
  return ticks;
}

}  // namespace

double Scale::at(double value) const {
  const auto place = [&](double v) { return logarithmic ? std::log(v) : v; };
  return from + (place(value) - place(low)) / (place(high) - place(low)) * (to - from);
}

Scale make_scale(const Interval& range, bool logarithmic, double from, double to) {
  Scale scale{.logarithmic = logarithmic, .low = 0, .high = 1, .from = from, .to = to};
  if (logarithmic) {
    const double room = std::max(std::pow(range.high / range.low, kMargin), 1.02);
    scale.low = std::max(range.low / room, std::numeric_limits<double>::min());
    scale.high = std::min(range.high * room, std::numeric_limits<double>::max());
  } else {
    const double span = range.high - range.low;
    const double room = span > 0 ? kMargin * span : std::max(std::abs(range.high) * 0.1, 0.5);
    scale.low = range.low - room;
    scale.high = range.high + room;
  }
  return scale;
}

bool drawable(double value, bool logarithmic) {
  return std::isfinite(value) && (!logarithmic || value > 0);
}

Interval robust_range(std::span<const double> values, double centre) {
  std::vector<double> distances;
  for (const double value : values) {
    if (std::isfinite(value)) distances.push_back(std::abs(value - centre));
  }
  std::sort(distances.begin(), distances.end());
  double limit = INFINITY;
  if (distances.size() >= 3) limit = kFence * distances[(distances.size() - 1) * 3 / 4];
  if (limit == 0) limit = INFINITY;  // most are equal to the centre: no scale to compare with
  Interval range{centre, centre};
  for (const double value : values) {
    if (!std::isfinite(value) || std::abs(value - centre) > limit) continue;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range;
}

std::vector<double> axis_ticks(double low, double high, bool logarithmic, int max_ticks) {
  std::vector<double> ticks;
  if (!(high > low) || !std::isfinite(high - low) || max_ticks < 1) return ticks;
  if (logarithmic && high / low > 5) {
    ticks = logarithmic_ticks(low, high, max_ticks);
    if (ticks.size() >= 2) return ticks;
    ticks.clear();
  }
  const double rough = (high - low) / max_ticks;
  const double ten = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * ten;
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * ten >= rough) {
      step = digit * ten;
      break;
    }
  }
  for (double k = std::ceil(low / step); k * step <= high; ++k) {
    ticks.push_back(k == 0 ? 0.0 : k * step);
  }
  return ticks;
}

std::string tick_text(double value) {
  if (value == 0) return "0";
  const std::string sign = value < 0 ? "−" : "";
  const double size = std::abs(value);
  if (size >= 999999.5 || size < 1e-3) return sign + scientific(size);
  std::string text = format("%.6g", size);
  const size_t whole = std::min(text.find('.'), text.size());
  if (whole > 3) text.insert(whole - 3, ",");
  return sign + text;
}

}  // namespace attn
