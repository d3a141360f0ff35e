#include "report/page_parts.h"

#include <algorithm>

#include "base/format.h"
#include "report/page_style.h"
#include "report/table.h"

namespace attn {
namespace {

// Columns of the provenance with the same text in all rows of a table of several rows.
bool is_shared(const Table& table, size_t column) {
  return table.rows.size() > 1 &&
         std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return row[column] == table.rows.front()[column]; });
}

std::string provenance(const SweepResults& results) {
  const Table all = provenance_table(results);
  if (all.rows.empty()) return "";
  const bool one_run = all.rows.size() == 1;
  Table rest;
  rest.rows.resize(all.rows.size());
  std::string shared;
  for (size_t i = 0; i < all.columns.size(); ++i) {
    if (one_run || is_shared(all, i)) {
      shared.append("<dt>").append(html_escaped(all.columns[i].title)).append("</dt><dd>");
      shared.append(html_escaped(all.rows.front()[i])).append("</dd>\n");
      continue;
    }
    rest.columns.push_back(all.columns[i]);
    for (size_t k = 0; k < all.rows.size(); ++k) rest.rows[k].push_back(all.rows[k][i]);
  }
  std::string out = shared.empty() ? "" : format("<dl>\n%s</dl>\n", shared.c_str());
  if (one_run) return out;
  return out + "<details><summary>" + std::to_string(all.rows.size()) + " runs</summary>\n" +
         to_html(rest) + "</details>\n";
}

}  // namespace

std::string page_head(const std::string& title, const std::string& about) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += html_escaped(title) + "</title>\n<style>" + kPageStyle + "</style>\n</head>\n<body>\n";
  out.append("<h1>").append(html_escaped(title)).append("</h1>\n");
  return about.empty() ? out : out + paragraphs({about}, "about");
}

std::string section(const std::string& heading, const std::string& caption) {
  std::string out = "<h2>";
  out.append(html_escaped(heading)).append("</h2>\n");
  return caption.empty() ? out : out + paragraphs({caption}, "caption");
}

std::string panel_grid(std::span<const PlotPanel> panels) {
  std::string out;
  for (const PlotPanel& panel : panels) {
    const std::string svg = to_svg(panel.plot);
    if (svg.empty()) continue;
    out.append("<figure><h3>").append(html_escaped(panel.heading));
    if (!panel.words.empty()) {
      out.append(" <span>").append(html_escaped(panel.words)).append("</span>");
    }
    out.append("</h3>\n").append(svg).append("</figure>\n");
  }
  return out.empty() ? "" : format("<div class=\"panels\">\n%s</div>\n", out.c_str());
}

std::string paragraphs(const std::vector<std::string>& lines, const char* style) {
  std::string out;
  for (const std::string& line : lines) {
    out += format("<p class=\"%s\">", style);
    out.append(html_escaped(line)).append("</p>\n");
  }
  return out;
}

std::string markdown_end(const SweepResults& results) {
  std::string out = "## Training cost\n\n" + to_markdown(cost_table(results)) + "\n";
  out += "## Reproduce\n\n    " + results.command + "\n\n";
  return out + to_markdown(provenance_table(results)) + "\n" + results.made + "\n";
}

std::string html_end(const SweepResults& results) {
  return section("Training cost", "") + to_html(cost_table(results)) + section("Reproduce", "") +
         "<p><code>" + html_escaped(results.command) + "</code></p>\n" + provenance(results) +
         "<p class=\"small\">" + html_escaped(results.made) + "</p>\n</body>\n</html>\n";
}

}  // namespace attn
