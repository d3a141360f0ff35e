// Shared parts of report pages: head and style, figures, paragraphs, cost and provenance.
#pragma once

#include <string>
#include <vector>

#include "report/plot.h"
#include "report/results.h"

namespace attn {

/// The start of the page, up to the first paragraph: style, title and description.
std::string page_head(const std::string& title, const std::string& about);

/// A plot with title and caption, in a wide and a narrow version; "" if it has no points.
std::string figure(const Plot& plot, const std::string& caption);

/// One HTML paragraph per line, with the CSS class `style`.
std::string paragraphs(const std::vector<std::string>& lines, const char* style);

/// The last sections of a page, in Markdown: training cost, the command and the provenance.
std::string markdown_end(const SweepResults& results);
/// The same in HTML, up to the end of the document.
std::string html_end(const SweepResults& results);

}  // namespace attn
