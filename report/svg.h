// Elements of the drawings of a report, as SVG.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Colours are names of CSS variables of the page (report/page_style.h): "ink" is --ink.
using Colour = std::string;

/// Categorical colours c1 to c7: distinguishable with the common colour vision deficiencies, in
/// light and dark. `index` wraps.
Colour categorical_colour(size_t index);
inline constexpr size_t kCategoricalColours = 7;

/// Colours s0 to s7 of ordered values: the one at `share` in [0, 1] of the way.
Colour sequential_colour(double share);

/// Width in pixels of a text in the page's font at `size` pixels; estimated, rather too wide, since
/// fonts differ between systems.
double text_width(std::string_view text, double size);

/// The text, cut off with "…" where it is wider than `width` pixels at `size`.
std::string fitted_text(const std::string& text, double width, double size);

/// A row's name, shortened where it is wider than `width`: of a grid's row, the names of the
/// options, so that all values stay ("heads=2.dro…=0.3"), else in the middle.
std::string fitted_name(const std::string& name, double width, double size);

/// Builds one <svg> element. Coordinates are pixels, y downwards.
class Svg {
 public:
  /// `description` is read out by screen readers.
  Svg(double width, double height, const std::string& description);

  /// Text with the CSS class `style`; `anchor` is start, middle or end.
  void text(double x, double y, const char* anchor, const char* style, const std::string& text,
            const Colour& colour = "");
  void line(double x1, double y1, double x2, double y2, const char* style,
            const Colour& colour = "");
  /// `path`: commands of a path element.
  void path(const std::string& path, const char* style, const Colour& colour = "");
  void circle(double x, double y, double radius, const char* style, const Colour& colour = "");
  void rectangle(double x, double y, double width, double height, const char* style,
                 const Colour& colour = "");
  /// Arrow head with its tip at (x, y), towards (dx, dy), one of the four unit vectors.
  void arrow(double x, double y, double dx, double dy, const char* style, const Colour& colour);

  /// A group whose elements have the tooltip `hover`; ended by close().
  void open(const char* style, const std::string& hover);
  /// A group that is cut off at this box.
  void open_clipped(double x, double y, double width, double height);
  void close();

  /// The finished element.
  std::string str() const;

 private:
  void start(const char* element, const char* style, const Colour& colour);

  std::string out_;
  std::string ends_;  // end tags of open groups, innermost first
};

}  // namespace attn
