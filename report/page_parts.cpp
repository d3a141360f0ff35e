#include "report/page_parts.h"

#include "report/table.h"

namespace attn {
namespace {

constexpr const char* kStyle = R"(
:root { --paper: #ffffff; --ink: #1d2430; --faint: #667085; --grid: #e4e7ec; --band: #f5f7fa;
  --c0: #344054; --c1: #1f6fd0; --c2: #b4540a; --c3: #137a4b; --c4: #a02c7d; --c5: #7a5af8;
  --c6: #0e7490; --c7: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171c; --ink: #e6e9ee; --faint: #98a2b3; --grid: #2b313b; --band: #1c2129;
    --c0: #d0d5dd; --c1: #6cb0ff; --c2: #f2a15c; --c3: #5fd39a; --c4: #f08fd0; --c5: #b7a5ff;
    --c6: #5ecbe3; --c7: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1480px; padding: 24px 16px 64px; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 4px; } h2 { font-size: 1.15rem; margin: 40px 0 8px; }
p { margin: 6px 0; max-width: 75ch; overflow-wrap: anywhere; } .faint, figcaption { color: var(--faint); font-size: 0.9rem; }
code { font: 0.88em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 7px; text-align: right; white-space: nowrap; }
thead th { color: var(--faint); font-weight: 600; border-bottom: 1px solid var(--grid); }
thead th.group { text-align: center; } th.text, td.text { text-align: left; }
tbody th { text-align: left; position: sticky; left: 0; background: var(--paper); }
tbody tr:nth-child(even) > * { background: var(--band); }
figure { margin: 28px 0; } svg { display: block; width: 100%; height: auto; }
.narrow { display: none; }
@media (max-width: 640px) { .wide { display: none; } .narrow { display: block; }
  body { padding: 16px 12px 48px; } }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--faint); font-size: 11px; } svg .label { fill: var(--faint); }
svg .name { font-weight: 600; }
svg .grid { stroke: var(--grid); } svg .zero { stroke: var(--faint); }
svg .line { fill: none; stroke-width: 1.6; } svg .leader { fill: none; opacity: 0.5; }
svg .faint { stroke: var(--faint); opacity: 0.6; } svg .error { stroke-width: 1.4; opacity: 0.7; }
svg circle { stroke-width: 1.6; }
details { margin: 12px 0; } summary { cursor: pointer; }
)";

}  // namespace

std::string page_head(const std::string& title, const std::string& about) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += html_escaped(title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n";
  out +=
      "<h1>" + html_escaped(title) + "</h1>\n<p class=\"faint\">" + html_escaped(about) + "</p>\n";
  return out;
}

std::string figure(const Plot& plot, const std::string& caption) {
  const std::string wide = to_svg(plot, 860, 440), narrow = to_svg(plot, 360, 400);
  if (wide.empty()) return "";
  return "<figure>\n<h2>" + html_escaped(plot.title) + "</h2>\n<div class=\"wide\">" + wide +
         "</div>\n<div class=\"narrow\">" + narrow + "</div>\n<figcaption>" +
         html_escaped(caption) + "</figcaption>\n</figure>\n";
}

std::string paragraphs(const std::vector<std::string>& lines, const char* style) {
  std::string out;
  for (const std::string& line : lines) {
    out += std::string("<p class=\"") + style + "\">" + html_escaped(line) + "</p>\n";
  }
  return out;
}

std::string markdown_end(const SweepResults& results) {
  std::string out = "## Training cost\n\n" + to_markdown(cost_table(results)) + "\n";
  out += "## Reproduce\n\n    " + results.command + "\n\n";
  return out + to_markdown(provenance_table(results)) + "\n" + results.made + "\n";
}

std::string html_end(const SweepResults& results) {
  return "<h2>Training cost</h2>\n" + to_html(cost_table(results)) +
         "<h2>Reproduce</h2>\n<p><code>" + html_escaped(results.command) + "</code></p>\n" +
         to_html(provenance_table(results)) + "<p class=\"faint\">" + html_escaped(results.made) +
         "</p>\n</body>\n</html>\n";
}

}  // namespace attn
