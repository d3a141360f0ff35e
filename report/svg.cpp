#include "report/svg.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.h"
#include "report/table.h"

namespace attn {
namespace {

constexpr int kSequentialColours = 8;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Widths in em of common fonts' wider members (DejaVu, Verdana), by the first byte of a character.
double width_in_em(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (continues_character(c)) return 0.0;
  if (byte >= 0xE3) return 1.0;  // Asian scripts and symbols
  if (byte >= 0x80) return 0.68;
  if (std::string_view("iljI.,:;'|!()[] ").find(c) != std::string_view::npos) return 0.38;
  if (std::string_view("mwMW%@").find(c) != std::string_view::npos) return 0.95;
  if (std::string_view("=+<>~#").find(c) != std::string_view::npos) return 0.84;
  return byte >= 'A' && byte <= 'Z' ? 0.70 : 0.625;
}

// The text without its middle.
std::string without_middle(const std::string& text, double width, double size) {
  const double room = (width / size - width_in_em('m')) / 2;
  size_t head = 0, tail = text.size();
  double em = 0.0;
  for (size_t i = 0; i < text.size(); ++i) {
    em += width_in_em(text[i]);
    if (em > room) break;
    if (i + 1 == text.size() || !continues_character(text[i + 1])) head = i + 1;
  }
  em = 0.0;
  for (size_t i = text.size(); i > head; --i) {
    em += width_in_em(text[i - 1]);
    if (em > room) break;
    if (!continues_character(text[i - 1])) tail = i - 1;
  }
  return text.substr(0, head) + "…" + text.substr(tail);
}

// A part of the name of a grid's row: an option, and the text before it.
struct NamePart {
  std::string before, option;
  size_t kept = 0;  // bytes of the option

  std::string shown() const { return option.substr(0, kept) + (kept < option.size() ? "…" : ""); }
  // Of an option that can be shortened.
  double width() const { return kept == 0 ? 0.0 : text_width(shown(), 1.0); }
};

// The last part is what follows the last option.
std::vector<NamePart> name_parts(const std::string& name) {
  std::vector<NamePart> parts;
  size_t at = 0;
  for (size_t end = name.find('='); end != name.npos; end = name.find('=', end + 1)) {
    const size_t dot = name.rfind('.', end);
    const size_t begin = dot == name.npos || dot < at ? at : dot + 1;
    parts.push_back({name.substr(at, begin - at), name.substr(begin, end - begin), end - begin});
    at = end;
  }
  parts.push_back({name.substr(at), "", 0});
  return parts;
}

}  // namespace

Colour categorical_colour(size_t index) {
  return format("c%zu", index % kCategoricalColours + 1);
}

Colour sequential_colour(double share) {
  const double step = std::clamp(share, 0.0, 1.0) * (kSequentialColours - 1);
  return format("s%ld", std::lround(step));
}

double text_width(std::string_view text, double size) {
  double em = 0.0;
  for (const char c : text) em += width_in_em(c);
  return em * size;
}

std::string fitted_text(const std::string& text, double width, double size) {
  if (text_width(text, size) <= width) return text;
  double em = width_in_em('m');  // width of the ellipsis
  size_t end = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    em += width_in_em(text[i]);
    if (em * size > width) break;
    if (i + 1 == text.size() || !continues_character(text[i + 1])) end = i + 1;
  }
  while (end > 0 && text[end - 1] == ' ') --end;
  return text.substr(0, end) + "…";
}

std::string fitted_name(const std::string& name, double width, double size) {
  std::vector<NamePart> parts = name_parts(name);
  while (true) {
    std::string text;
    for (const NamePart& part : parts) text += part.before + part.shown();
    if (text_width(text, size) <= width) return text;
    const auto longest = std::max_element(
        parts.begin(), parts.end(),
        [](const NamePart& a, const NamePart& b) { return a.width() < b.width(); });
    if (longest->kept == 0) return without_middle(name, width, size);
    do {
      --longest->kept;  // a whole character
    } while (longest->kept > 0 && continues_character(longest->option[longest->kept]));
  }
}

Svg::Svg(double width, double height, const std::string& description)
    : out_(format("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", width, height) +
           html_escaped(description) + "\">\n") {}

void Svg::start(const char* element, const char* style, const Colour& colour) {
  out_ += std::string("<") + element;
  if (*style != '\0') out_ += std::string(" class=\"") + style + "\"";
  if (!colour.empty()) out_ += " style=\"--c:var(--" + colour + ")\"";
}

void Svg::text(double x, double y, const char* anchor, const char* style, const std::string& text,
               const Colour& colour) {
  start("text", style, colour);
  out_ += format(" x=\"%.1f\" y=\"%.1f\"", x, y);
  if (std::string_view(anchor) != "start") out_ += format(" text-anchor=\"%s\"", anchor);
  out_.append(">").append(html_escaped(text)).append("</text>\n");
}

void Svg::line(double x1, double y1, double x2, double y2, const char* style,
               const Colour& colour) {
  start("line", style, colour);
  out_ += format(" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x1, y1, x2, y2);
}

void Svg::path(const std::string& path, const char* style, const Colour& colour) {
  start("path", style, colour);
  out_ += " d=\"" + path + "\"/>\n";
}

void Svg::circle(double x, double y, double radius, const char* style, const Colour& colour) {
  start("circle", style, colour);
  out_ += format(" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", x, y, radius);
}

void Svg::rectangle(double x, double y, double width, double height, const char* style,
                    const Colour& colour) {
  start("rect", style, colour);
  out_ += format(" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x, y, width, height);
}

void Svg::arrow(double x, double y, double dx, double dy, const char* style, const Colour& colour) {
  constexpr double kLength = 9.0, kHalf = 5.0;
  path(format("M%.1f %.1fL%.1f %.1fL%.1f %.1fZ", x, y, x - kLength * dx - kHalf * dy,
              y - kLength * dy - kHalf * dx, x - kLength * dx + kHalf * dy,
              y - kLength * dy + kHalf * dx),
       style, colour);
}

void Svg::open(const char* style, const std::string& hover) {
  start("g", style, "");
  out_ += ">";
  if (!hover.empty()) out_.append("<title>").append(html_escaped(hover)).append("</title>");
  out_ += "\n";
  ends_.insert(0, "</g>\n");
}

void Svg::open_clipped(double x, double y, double width, double height) {
  // A nested <svg> clips without an id, which would have to be unique in the page.
  out_ += format("<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x, y, width, height);
  out_ += format(" viewBox=\"%.1f %.1f %.1f %.1f\">\n", x, y, width, height);
  ends_.insert(0, "</svg>\n");
}

void Svg::close() {
  const size_t end = ends_.find('\n') + 1;
  out_ += ends_.substr(0, end);
  ends_.erase(0, end);
}

std::string Svg::str() const {
  return out_ + ends_ + "</svg>\n";
}

}  // namespace attn
