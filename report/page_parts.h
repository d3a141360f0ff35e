// What the HTML pages of reports share: their head and style, figures, paragraphs.
#pragma once

#include <string>
#include <vector>

#include "report/plot.h"

namespace attn {

/// Everything up to the first paragraph: style, title, what the page is about.
std::string page_head(const std::string& title, const std::string& about);

/// A plot, wide and narrow, under its title; "" for a plot without points.
std::string figure(const Plot& plot, const std::string& caption);

/// One paragraph a line, of the CSS class `style`.
std::string paragraphs(const std::vector<std::string>& lines, const char* style);

}  // namespace attn
