#include "report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/format.h"
#include "report/table.h"

namespace attn {
namespace {

constexpr double kText = 12.0;      // line height, pixels
constexpr double kCharacter = 6.8;  // mean character width, pixels
constexpr double kRadius = 4.0;     // radius of a point, pixels
constexpr double kLeft = 56, kTop = 16, kBottom = 44, kRight = 16;

double text_width(const std::string& text) {
  double characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return characters * kCharacter;
}

std::string tick_text(double value) {
  if (value == 0) return "0";
  if (std::abs(value) >= 1e5 || std::abs(value) < 1e-3) {  // "4.25e10"
    const std::string whole = format("%.2e", value);
    const size_t e = whole.find('e');
    std::string mantissa = whole.substr(0, e);
    while (mantissa.back() == '0') mantissa.pop_back();
    if (mantissa.back() == '.') mantissa.pop_back();
    return mantissa + "e" + std::to_string(std::atoi(whole.c_str() + e + 1));
  }
  std::string text = format("%.6g", value);
  if (text.front() == '-') text = "−" + text.substr(1);
  return text;
}

bool drawable(double value, const PlotAxis& axis) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

// One axis: from values to pixels.
struct Scale {
  bool logarithmic = false;
  double low = 0, high = 1, from = 0, to = 1;

  double at(double value) const {
    const double v = logarithmic ? std::log(value) : value;
    const double a = logarithmic ? std::log(low) : low, b = logarithmic ? std::log(high) : high;
    return from + (v - a) / (b - a) * (to - from);
  }
};

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// A scale with a margin around the data; the range is never empty.
Scale make_scale(Range range, const PlotAxis& axis, double from, double to, bool with_zero) {
  if (with_zero) range.add(0);
  Scale scale{.logarithmic = axis.logarithmic, .low = 0, .high = 1, .from = from, .to = to};
  if (axis.logarithmic) {
    const double room = std::max(std::pow(range.high / range.low, 0.06), 1.02);
    scale.low = range.low / room;
    scale.high = range.high * room;
  } else {
    const double span = range.high - range.low;
    const double room = span > 0 ? 0.06 * span : std::max(std::abs(range.high) * 0.1, 0.5);
    scale.low = range.low - room;
    scale.high = range.high + room;
  }
  return scale;
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double overlap(const Box& other) const {
    const double w = std::min(x + width, other.x + other.width) - std::max(x, other.x);
    const double h = std::min(y + height, other.y + other.height) - std::max(y, other.y);
    return w > 0 && h > 0 ? w * h : 0;
  }
};

// Places labels around points: of several positions, the one that overlaps least.
class Labels {
 public:
  explicit Labels(const Box& inside) : inside_(inside) {}
  void block(const Box& box) { taken_.push_back(box); }

  Box place(double x, double y, const std::string& text) {
    const double width = text_width(text), height = kText;
    Box best;
    double least = INFINITY;
    for (const double distance : {kRadius + 3, kRadius + 12, kRadius + 24}) {
      const std::array<Box, 8> around = {
          {{x + distance, y - height / 2, width, height},
           {x - distance - width, y - height / 2, width, height},
           {x - width / 2, y - distance - height, width, height},
           {x - width / 2, y + distance, width, height},
           {x + distance, y - distance - height / 2, width, height},
           {x + distance, y + distance - height / 2, width, height},
           {x - distance - width, y - distance - height / 2, width, height},
           {x - distance - width, y + distance - height / 2, width, height}}};
      for (const Box& box : around) {
        double cost = distance * 0.01 + (width * height - box.overlap(inside_)) * 4;
        for (const Box& other : taken_) cost += box.overlap(other);
        if (cost >= least) continue;
        least = cost;
        best = box;
      }
    }
    taken_.push_back(best);
    return best;
  }

 private:
  Box inside_;
  std::vector<Box> taken_;
};

std::string text_at(double x, double y, const char* anchor, const char* style,
                    const std::string& text) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
                style) +
         html_escaped(text) + "</text>\n";
}

std::string line_at(double x1, double y1, double x2, double y2, const char* style) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1,
                x2, y2, style);
}

std::string draw_axes(const Plot& plot, const Scale& x, const Scale& y) {
  std::string out;
  const double right = x.to, bottom = y.from;
  const int x_most = std::clamp(static_cast<int>((x.to - x.from) / 70), 2, 10);
  const int y_most = std::clamp(static_cast<int>((y.from - y.to) / 40), 2, 10);
  for (const double tick : axis_ticks(x.low, x.high, x.logarithmic, x_most)) {
    out += line_at(x.at(tick), bottom, x.at(tick), y.to, "grid");
    out += text_at(x.at(tick), bottom + 16, "middle", "tick", tick_text(tick));
  }
  for (const double tick : axis_ticks(y.low, y.high, y.logarithmic, y_most)) {
    out += line_at(x.from, y.at(tick), right, y.at(tick), "grid");
    out += text_at(x.from - 6, y.at(tick) + 4, "end", "tick", tick_text(tick));
  }
  if (plot.zero_lines) {
    out += line_at(x.at(0), bottom, x.at(0), y.to, "zero");
    out += line_at(x.from, y.at(0), right, y.at(0), "zero");
  }
  out += text_at((x.from + right) / 2, bottom + 36, "middle", "label", plot.x.label);
  out += format(
             "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\" "
             "class=\"label\">",
             (bottom + y.to) / 2) +
         html_escaped(plot.y.label) + "</text>\n";
  return out;
}

// Labels at the lines' ends, pushed apart where lines end together.
std::string draw_lines(const Plot& plot, const Scale& x, const Scale& y) {
  struct End {
    const PlotLine* line;
    double x, y, place;
  };
  std::string out;
  std::vector<End> ends;
  for (const PlotLine& line : plot.lines) {
    std::string path;
    End end{&line, 0, 0, 0};
    for (const auto& [px, py] : line.points) {
      if (!drawable(px, plot.x) || !drawable(py, plot.y)) continue;
      end.x = x.at(px);
      end.y = y.at(py);
      path += format("%s%.1f %.1f", path.empty() ? "M" : "L", end.x, end.y);
    }
    if (path.empty()) continue;
    out += format("<path class=\"line\" style=\"stroke:var(--c%d)\" d=\"", line.colour) + path +
           "\"><title>" + html_escaped(line.label) + "</title></path>\n";
    end.place = end.y;
    ends.push_back(end);
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.y < b.y; });
  for (size_t i = 1; i < ends.size(); ++i) {
    ends[i].place = std::max(ends[i].place, ends[i - 1].place + kText);
  }
  double floor = y.from + kText;
  for (size_t i = ends.size(); i-- > 0;) {
    ends[i].place = std::min(ends[i].place, floor);
    floor = ends[i].place - kText;
  }
  for (const End& end : ends) {
    const double column = x.to + 14;
    out +=
        format("<path class=\"leader\" style=\"stroke:var(--c%d)\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
               end.line->colour, end.x, end.y, column - 2, end.place);
    out += format("<text x=\"%.1f\" y=\"%.1f\" class=\"name\" style=\"fill:var(--c%d)\">", column,
                  end.place + 4, end.line->colour) +
           html_escaped(end.line->label) + "</text>\n";
  }
  return out;
}

std::string draw_points(const Plot& plot, const Scale& x, const Scale& y) {
  std::string out;
  Labels labels({x.from, y.to, x.to - x.from, y.from - y.to});
  std::vector<const PlotPoint*> shown;
  for (const PlotPoint& point : plot.points) {
    if (!drawable(point.x, plot.x) || !drawable(point.y, plot.y)) continue;
    shown.push_back(&point);
    const double px = x.at(point.x), py = y.at(point.y);
    labels.block({px - kRadius, py - kRadius, 2 * kRadius, 2 * kRadius});
  }
  for (const PlotPoint* point : shown) {
    const double px = x.at(point->x), py = y.at(point->y);
    const int c = point->colour;
    if (point->error && drawable(point->y - *point->error, plot.y)) {
      out += format(
          "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"error\" "
          "style=\"stroke:var(--c%d)\"/>\n",
          px, y.at(point->y - *point->error), px, y.at(point->y + *point->error), c);
    }
    out += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.0f\" style=\"stroke:var(--c%d);fill:%s\">",
                  px, py, kRadius, c,
                  point->hollow ? "var(--paper)" : format("var(--c%d)", c).c_str()) +
           "<title>" + html_escaped(point->label) + format(": %.4g, %.4g", point->x, point->y) +
           "</title></circle>\n";
  }
  for (const PlotPoint* point : shown) {
    const double px = x.at(point->x), py = y.at(point->y);
    const Box box = labels.place(px, py, point->label);
    const double cx = box.x + box.width / 2, cy = box.y + box.height / 2;
    if (std::hypot(cx - px, cy - py) > box.width / 2 + 16) {
      out += line_at(px, py, std::clamp(px, box.x, box.x + box.width),
                     std::clamp(py, box.y, box.y + box.height), "faint");
    }
    out += format("<text x=\"%.1f\" y=\"%.1f\" class=\"name\" style=\"fill:var(--c%d)\">", box.x,
                  box.y + kText - 2.5, point->colour) +
           html_escaped(point->label) + "</text>\n";
  }
  return out;
}

}  // namespace

std::vector<double> axis_ticks(double low, double high, bool logarithmic, int most) {
  std::vector<double> ticks;
  if (!(high > low) || most < 1) return ticks;
  if (logarithmic && high / low > 5) {
    // As many ticks per power of ten as fit.
    for (const std::vector<double>& digits :
         {std::vector<double>{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}}) {
      ticks.clear();
      for (double ten = std::pow(10, std::floor(std::log10(low))); ten <= high; ten *= 10) {
        for (const double digit : digits) {
          if (digit * ten >= low && digit * ten <= high) ticks.push_back(digit * ten);
        }
      }
      if (static_cast<int>(ticks.size()) <= most) break;
    }
    if (ticks.size() >= 2) return ticks;
    ticks.clear();
  }
  const double rough = (high - low) / most;
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

std::string to_svg(const Plot& plot, double width, double height) {
  Range xs, ys;
  double names = 0;
  const auto add = [&](double x, double y) {
    if (!drawable(x, plot.x) || !drawable(y, plot.y)) return;
    xs.add(x);
    ys.add(y);
  };
  for (const PlotLine& line : plot.lines) {
    names = std::max(names, text_width(line.label) + 14);
    for (const auto& [x, y] : line.points) add(x, y);
  }
  for (const PlotPoint& point : plot.points) {
    add(point.x, point.y);
    if (point.error) {
      add(point.x, point.y - *point.error);
      add(point.x, point.y + *point.error);
    }
  }
  if (!(xs.low <= xs.high)) return "";
  const Scale x = make_scale(xs, plot.x, kLeft, width - kRight - names, plot.zero_lines);
  const Scale y = make_scale(ys, plot.y, height - kBottom, kTop, plot.zero_lines);
  std::string out =
      format("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", width, height);
  out += html_escaped(plot.title) + "\">\n" + draw_axes(plot, x, y) + draw_lines(plot, x, y) +
         draw_points(plot, x, y) + "</svg>\n";
  return out;
}

}  // namespace attn
