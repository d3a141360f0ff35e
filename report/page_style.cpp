#include "report/page_style.h"

namespace attn {

// Colours: c1 to c7 after Okabe and Ito, darkened or lightened to a contrast of at least 3 with the
// paper; s0 to s7 by lightness and hue together.
const char* const kPageStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #17202c; --faint: #5d6877;
  --rule: #e3e7ec; --axis: #9aa4b2; --shade: #f5f7f9; --base: #8a94a3;
  --accent: #0067b0; --contrary: #c8500a;
  --c1: #0067b0; --c2: #c8500a; --c3: #00805f; --c4: #b03f86; --c5: #8a6a00; --c6: #6a4fc4;
  --c7: #2b8cb8;
  --s0: #3b0f8f; --s1: #5b19a6; --s2: #8420a6; --s3: #a8308f; --s4: #c54676; --s5: #d9605c;
  --s6: #dd7a30; --s7: #c28c00; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #13171d; --ink: #e8ecf1; --faint: #9ba6b5; --rule: #2a313b; --axis: #5c6675;
    --shade: #1a2028; --base: #8892a0; --accent: #62b5f5; --contrary: #ff9455;
    --c1: #62b5f5; --c2: #ff9455; --c3: #3ccb9f; --c4: #f08cc6; --c5: #e0c341; --c6: #b6a4ff;
    --c7: #8fdcf0;
    --s0: #9d7bff; --s1: #b877f5; --s2: #d374df; --s3: #e876bd; --s4: #f4809a; --s5: #fa9475;
    --s6: #fbb055; --s7: #f2d24b; } }
@media print {
  :root { color-scheme: light; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 1288px; padding: 28px 24px 72px; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 1.55rem; line-height: 1.2; margin: 0 0 2px; letter-spacing: -0.01em;
  overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 52px 0 4px; }
p { margin: 6px 0; max-width: 82ch; overflow-wrap: anywhere; }
.about { max-width: 110ch; }
.about, .caption, figcaption, .small { color: var(--faint); font-size: 0.86rem; }
.summary { font-size: 1.16rem; line-height: 1.45; margin: 14px 0 4px; max-width: 104ch; }
.progress { color: var(--contrary); font-size: 0.92rem; }
code { font: 0.88em/1.4 ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
figure { margin: 0; }
:not(svg) > svg { display: block; width: 100%; height: auto; }
.forest { margin-top: 22px; }
.stacked { display: none; gap: 32px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); }
.stacked > svg { max-width: 460px; }
.key { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0 0 12px; padding: 0;
  list-style: none; font-size: 0.84rem; color: var(--faint); }
.key li > svg { display: inline-block; width: 22px; height: 12px; vertical-align: -1px;
  margin-right: 5px; }
.panels { display: grid; gap: 26px 30px; margin-top: 14px;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 350px), 1fr)); }
.panels figure { min-width: 0; }
.panels h3 { font-size: 0.95rem; margin: 0 0 6px; overflow-wrap: anywhere; }
.panels h3 span { color: var(--faint); font-weight: 400; font-size: 0.86rem; margin-left: 6px; }
.single { max-width: 860px; margin-top: 14px; }
.scroll { overflow-x: auto; margin: 12px 0; border-bottom: 1px solid var(--rule); }
table { border-collapse: separate; border-spacing: 0; font-size: 0.84rem; }
th, td { padding: 4px 8px; text-align: right; white-space: nowrap; }
thead th { color: var(--faint); font-weight: 600; border-bottom: 1px solid var(--axis); }
thead tr:not(:last-child) th { border-bottom: 0; padding-bottom: 0; }
thead th.group { text-align: center; color: var(--ink); }
th.text, td.text { text-align: left; }
th.first, td.first { border-left: 1px solid var(--rule); }
tbody tr:nth-child(even) > * { background: var(--shade); }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper);
  border-right: 1px solid var(--rule); }
tbody tr:hover > * { background: var(--rule); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 0.86rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
details { margin: 10px 0; } summary { cursor: pointer; color: var(--faint); font-size: 0.9rem; }
svg text { font-family: inherit; font-size: 11px; fill: var(--faint); }
svg .title { font-size: 14px; font-weight: 600; fill: var(--ink); }
svg .heading { font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
svg .name, svg .number { font-size: 12px; fill: var(--c); font-weight: 600; }
svg .name { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
svg .number { font-weight: 400; } svg .strong { font-weight: 700; }
svg .row text { paint-order: stroke; stroke: var(--paper); stroke-width: 4px;
  stroke-linejoin: round; }
svg .grid { stroke: var(--rule); } svg .axis { stroke: var(--axis); }
svg .zero { stroke: var(--ink); stroke-width: 1.2; }
svg .line { fill: none; stroke: var(--c); stroke-width: 1.7; stroke-linejoin: round; }
svg .band { fill: var(--c); opacity: 0.2; }
svg .leader { stroke: var(--c); opacity: 0.6; }
svg .dotted { stroke: var(--c); stroke-dasharray: 1 3; opacity: 0.8; }
svg .error, svg .interval { stroke: var(--c); stroke-width: 1.6; fill: none; }
svg .error { opacity: 0.6; }
svg .mark, svg .hollow { stroke: var(--c); stroke-width: 1.6; fill: var(--c); }
svg .hollow { fill: var(--paper); }
svg .paper { fill: var(--paper); fill-opacity: 0.6; stroke: var(--ink); stroke-width: 1.1; }
svg .touch { fill: transparent; } svg .row:hover .touch { fill: var(--shade); }
svg .row:hover text { stroke: var(--shade); }
@media (max-width: 1000px) { .side { display: none; } .stacked { display: grid; } }
@media (max-width: 640px) { body { padding: 18px 15px 48px; } h2 { margin-top: 40px; }
  .summary { font-size: 1.05rem; }
  tbody th > span { display: block; width: max-content; max-width: 38vw; white-space: normal;
    overflow-wrap: break-word; } }
@page { size: A4 landscape; margin: 12mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 12px; }
  .side { display: block; } .stacked { display: none; }
  .scroll { overflow: visible; border: 0; } th:first-child { position: static; }
  table { font-size: 6.6pt; } th, td { padding: 1.5px 3px; }
  h2 { break-after: avoid; margin-top: 24px; } figure, tr, dl { break-inside: avoid; }
  .panels { grid-template-columns: repeat(3, 1fr); }
  details::details-content { content-visibility: visible; display: block; height: auto; } }
)";

}  // namespace attn
