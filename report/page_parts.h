// Shared parts of report pages: head, figures, paragraphs, cost and provenance.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/page_plots.h"
#include "report/results.h"

namespace attn {

/// The start of the page, up to the first paragraph: style, title and description.
std::string page_head(const std::string& title, const std::string& about);

/// The heading of a section with a caption; either may contain any characters.
std::string section(const std::string& heading, const std::string& caption);

/// Plots in a grid, with their headings; those without points are left out. "" if none is left.
std::string panel_grid(std::span<const PlotPanel> panels);

/// One HTML paragraph per line, with the CSS class `style`.
std::string paragraphs(const std::vector<std::string>& lines, const char* style);

/// The last sections of a page, in Markdown: training cost, the command and the provenance.
std::string markdown_end(const SweepResults& results);
/// The same in HTML, up to the end of the document; facts of the provenance that all runs share are
/// listed once.
std::string html_end(const SweepResults& results);

}  // namespace attn
