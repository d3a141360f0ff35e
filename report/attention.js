"use strict";
// The data is an array with an entry for each line of the text and kind of attention: { line, kind, left_text,
// right_text (queries and keys), left_pieces, right_pieces, attn[layer][head][query][key] }.
const byLine = {};
for (const entry of JSON.parse(document.getElementById("data").textContent)) {
  (byLine[entry.line] ??= {})[entry.kind] = entry;
}
const sentences = Object.values(byLine);
const KINDS = ["encoder", "decoder", "cross"];
const NAMES = { encoder: "encoder self", decoder: "decoder self", cross: "cross" };
const state = { s: 0, kind: "cross", layer: 0, heads: [0], view: "lines", words: false };
let hovered = null;

// ---- what is shown is kept in the address
function readHash() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const number = (key, fallback) => Number.parseInt(hash.get(key), 10) || fallback;
  state.s = Math.min(Math.max(number("sentence", 1) - 1, 0), sentences.length - 1);
  const kinds = kindsOf(sentences[state.s]);
  state.kind = kinds.includes(hash.get("kind")) ? hash.get("kind") : kinds[kinds.length - 1];
  const layers = layersOf(state.kind);
  state.layer = Math.min(Math.max(number("layer", layers.length) - 1, 0), layers.length - 1);
  const count = layers[state.layer].length;
  const given = (hash.get("heads") || "").split(",").map(h => Number.parseInt(h, 10) - 1)
    .filter(h => h >= 0 && h < count);
  state.heads = given.length ? [...new Set(given)] : [...Array(count).keys()];
  state.view = hash.get("view") === "matrix" ? "matrix" : "lines";
  state.words = hash.get("words") === "1";
}
function writeHash() {
  const hash = new URLSearchParams({ sentence: state.s + 1, kind: state.kind, layer: state.layer + 1,
    heads: state.heads.map(h => h + 1).join(","), view: state.view, words: state.words ? 1 : 0 });
  history.replaceState(null, "", "#" + hash.toString().replaceAll("%2C", ","));
}

// ---- weights
const kindsOf = sentence => KINDS.filter(kind => kind in sentence);
const layersOf = kind => sentences[state.s][kind].attn;  // [layer][head][query][key]
const sourceOf = sentence => (sentence.cross ?? { right_text: sentence.encoder.left_text }).right_text;
const hasPieces = tokens => tokens.some(token => token.startsWith("\u2581"));
// Groups of tokens that are a word: a piece that begins with the mark of a blank begins a word.
function groups(tokens) {
  if (!state.words || !hasPieces(tokens)) return tokens.map((_, i) => [i]);
  const out = [];
  tokens.forEach((token, i) => {
    const special = /^<.*>$/.test(token) || (i > 0 && /^<.*>$/.test(tokens[i - 1]));
    if (i === 0 || special || token.startsWith("\u2581")) out.push([]);
    out[out.length - 1].push(i);
  });
  return out;
}
const labels = (tokens, parts) =>
  parts.map(part => part.map(i => tokens[i]).join("").replace(/^\u2581(?=.)/, state.words ? "" : "\u2581"));
// One head's weights between words: sums over the keys of a word, means over its queries. Pieces are what the model
// reads instead of unknown words, and empty for others.
function headOf(layer, head) {
  const { left_text, right_text, left_pieces, right_pieces, attn } = sentences[state.s][state.kind];
  const rows = groups(left_text), columns = groups(right_text), weights = attn[layer][head];
  const pieces = (all, parts) => parts.map(part => part.length === 1 ? all[part[0]] : "");
  const sum = (row, column) => row.reduce((total, i) => total + column.reduce((t, j) => t + weights[i][j], 0), 0);
  return { left: labels(left_text, rows), right: labels(right_text, columns),
    leftPieces: pieces(left_pieces, rows), rightPieces: pieces(right_pieces, columns),
    weights: rows.map(row => columns.map(column => Math.min(1, sum(row, column) / row.length))) };
}

// ---- drawing
const SVG = "http://www.w3.org/2000/svg";
function element(parent, name, attributes = {}, text) {
  const svg = ["svg", "g", "line", "rect", "text", "title"].includes(name);
  const made = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value); else made.setAttribute(key, value);
  }
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const HUES = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--base"];
const colour = head => css(HUES[head % HUES.length]);
const percent = weight => (100 * weight).toFixed(1) + " %";

function thumbnail(canvas, layer, head) {
  const { weights } = headOf(layer, head);
  canvas.width = weights[0].length;
  canvas.height = weights.length;
  const context = canvas.getContext("2d");
  context.fillStyle = colour(head);
  weights.forEach((row, i) => row.forEach((weight, j) => {
    context.globalAlpha = weight;
    context.fillRect(j, i, 1, 1);
  }));
}
function drawGrid(parent) {
  const layers = layersOf(state.kind), most = Math.max(...layers.map(heads => heads.length));
  const thumb = Math.max(28, Math.min(72, Math.floor((Math.min(innerWidth - 80, 620)) / most) - 8));
  const table = element(parent, "table", { class: "heads", style: `--thumb: ${thumb}px` });
  const top = element(element(table, "thead"), "tr");
  element(top, "th", {}, "");
  for (let head = 0; head < most; ++head) element(top, "th", {}, String(head + 1));
  const body = element(table, "tbody");
  layers.forEach((heads, layer) => {
    const row = element(body, "tr");
    element(row, "th", {}, String(layer + 1));
    for (let head = 0; head < heads.length; ++head) {
      const chosen = layer === state.layer && state.heads.includes(head);
      const button = element(element(row, "td"), "button", { "aria-pressed": chosen,
        title: `layer ${layer + 1}, head ${head + 1}; with Shift: several heads`, style: `--head: ${colour(head)}`,
        onclick: event => choose(layer, head, event.shiftKey || event.ctrlKey || event.metaKey) });
      thumbnail(element(button, "canvas"), layer, head);
    }
  });
}
function choose(layer, head, several) {
  if (several && layer === state.layer) {
    const others = state.heads.filter(h => h !== head);
    state.heads = others.length === state.heads.length ? [...others, head] : others.length ? others : [head];
  } else {
    state.layer = layer;
    state.heads = [head];
  }
  hovered = null;
  draw();
}

const FONT = "13px system-ui, sans-serif";
function textWidth(texts) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = "600 " + FONT;
  return Math.ceil(Math.max(...texts.map(text => context.measureText(text).width)));
}
function shortened(text, width) {
  if (textWidth([text]) <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth([letters.join("") + "\u2026"]) > width) letters.pop();
  return letters.join("") + "\u2026";
}
// A label with its tooltip: the text that is cut off, and what the model reads instead of an unknown word.
function label(svg, text, piece, width, attributes) {
  const shown = shortened(text, width);
  const node = element(svg, "text", { fill: css("--ink"), class: piece ? "unknown" : "",
    style: (piece ? "font: italic " : "font: ") + FONT, ...attributes }, shown);
  const title = piece ? `${text}: unknown to the model, which reads ${piece}` : shown === text ? "" : text;
  if (title) element(node, "title", {}, title);
  return node;
}
// The widths of both columns of labels within `room`: a column that needs less than half leaves the rest to the other.
function labelWidths(left, right, room) {
  const [a, b] = [textWidth(left), textWidth(right)], half = Math.floor(room / 2);
  if (a + b <= room) return [a, b];
  return a <= half ? [a, room - a] : b <= half ? [room - b, b] : [half, half];
}
// The paper's head view: a line for each weight, a colour for each head.
function drawLines(svg, heads) {
  const { left, right } = heads[0], step = 22;
  const room = Math.max(240, svg.parentNode.clientWidth) - 26, least = 80;
  const [leftWidth, rightWidth] = labelWidths(left, right, room - least);
  const x1 = leftWidth + 12, x2 = x1 + Math.max(least, Math.min(240, room - leftWidth - rightWidth));
  size(svg, x2 + rightWidth + 14, step * Math.max(left.length, right.length) + 4);
  const lines = element(svg, "g");
  const showLines = () => {
    lines.replaceChildren();
    heads.forEach((head, h) => head.weights.forEach((row, i) => row.forEach((weight, j) => {
      const on = !hovered || (hovered.side === "left" ? hovered.index === i : hovered.index === j);
      if (!on || weight < 0.01) return;
      const shift = (h - (heads.length - 1) / 2) * Math.min(3, 12 / heads.length);
      element(lines, "line", { x1, y1: step * (i + 0.5) + shift, x2, y2: step * (j + 0.5) + shift,
        stroke: colour(state.heads[h]), "stroke-width": Math.max(1, Math.min(3, 12 / heads.length)), opacity: weight });
    })));
    for (const node of svg.querySelectorAll("text")) {
      const { side, index } = node.dataset;
      node.classList.toggle("on", !!hovered && hovered.side === side && hovered.index === +index);
    }
    readout(heads);
  };
  const word = (side, text, index, piece, width, x, anchor) => label(svg, text, piece, width, {
    x, y: step * (index + 0.5) + 5, "text-anchor": anchor, "data-side": side, "data-index": index,
    onmouseenter: () => { hovered = { side, index }; showLines(); },
    onmouseleave: () => { hovered = null; showLines(); },
    onclick: () => { hovered = { side, index }; showLines(); } });
  left.forEach((text, i) => word("left", text, i, heads[0].leftPieces[i], leftWidth, x1 - 6, "end"));
  right.forEach((text, j) => word("right", text, j, heads[0].rightPieces[j], rightWidth, x2 + 6, "start"));
  showLines();
}
function readout(heads) {
  const out = document.getElementById("readout");
  out.textContent = "\u00a0";
  if (!hovered) return;
  const { left, right } = heads[0];
  const mean = (i, j) => heads.reduce((sum, head) => sum + head.weights[i][j], 0) / heads.length;
  const of = hovered.side === "left" ? right.map((text, j) => [text, mean(hovered.index, j)])
    : left.map((text, i) => [text, mean(i, hovered.index)]);
  const best = of.sort((a, b) => b[1] - a[1]).slice(0, 4).map(([text, weight]) => `${text} ${percent(weight)}`);
  out.textContent = (hovered.side === "left" ? left : right)[hovered.index] + ": " + best.join(", ");
}
// Mean over the chosen heads; the exact value on hover.
function drawMatrix(svg, heads) {
  const { left, right } = heads[0], cell = Math.max(12, Math.min(26, Math.floor(640 / right.length)));
  const x0 = textWidth(left) + 10, y0 = textWidth(right) + 10;
  size(svg, x0 + cell * right.length + y0 * 0.75, y0 + cell * left.length + 4);
  const hue = heads.length === 1 ? colour(state.heads[0]) : css("--ink");
  left.forEach((text, i) => label(svg, text, heads[0].leftPieces[i], x0,
    { x: x0 - 6, y: y0 + cell * (i + 0.5) + 4, "text-anchor": "end" }));
  right.forEach((text, j) => label(svg, text, heads[0].rightPieces[j], y0,
    { transform: `translate(${x0 + cell * (j + 0.5) + 2} ${y0 - 5}) rotate(-60)` }));
  left.forEach((from, i) => right.forEach((to, j) => {
    const weight = heads.reduce((sum, head) => sum + head.weights[i][j], 0) / heads.length;
    const place = { x: x0 + cell * j, y: y0 + cell * i, width: cell - 1, height: cell - 1 };
    element(svg, "rect", { ...place, fill: css("--shade") });
    const rect = element(svg, "rect", { ...place, fill: hue, "fill-opacity": weight.toFixed(3),
      onmouseenter: () => { document.getElementById("readout").textContent = `${from} \u2192 ${to}: ${percent(weight)}`; } });
    element(rect, "title", {}, `${from} \u2192 ${to}: ${percent(weight)}`);
  }));
}
function size(svg, width, height) {
  for (const [key, value] of [["width", width], ["height", height], ["viewBox", `0 0 ${width} ${height}`]]) {
    svg.setAttribute(key, value);
  }
}
function download() {
  const copy = document.querySelector("#figure svg").cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([copy.outerHTML], { type: "image/svg+xml" }));
  link.download = `attention-${state.s + 1}-${state.kind}-layer${state.layer + 1}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- the page
function buttons(parent, label, entries, current, set) {
  const group = element(parent, "span", { class: "group", role: "group", "aria-label": label });
  for (const [value, text] of entries) {
    element(group, "button", { "aria-pressed": value === current, onclick: () => { set(value); draw(); } }, text);
  }
}
function drawControls(parent) {
  const sentence = sentences[state.s];
  const select = element(parent, "select", { "aria-label": "sentence",
    onchange: event => { state.s = +event.target.value; hovered = null; keepInRange(); draw(); } });
  sentences.forEach((other, i) => {
    const source = sourceOf(other);
    const text = source.slice(0, -1).join(hasPieces(source) ? "" : " ").replaceAll("\u2581", " ").trim();
    const option = element(select, "option", { value: i }, `${Object.values(other)[0].line}  ${text.slice(0, 70)}`);
    option.selected = i === state.s;
  });
  buttons(parent, "kind", kindsOf(sentence).map(kind => [kind, NAMES[kind]]), state.kind,
    kind => { state.kind = kind; keepInRange(); });
  buttons(parent, "view", [["lines", "lines"], ["matrix", "matrix"]], state.view, view => { state.view = view; });
  if (Object.values(sentence).some(entry => hasPieces([...entry.left_text, ...entry.right_text]))) {
    buttons(parent, "units", [[false, "subwords"], [true, "words"]], state.words, words => { state.words = words; });
  }
  element(parent, "button", { onclick: () => { state.heads = [...layersOf(state.kind)[state.layer].keys()];
    draw(); } }, "all heads of the layer");
  element(parent, "button", { onclick: download }, "download SVG");
}
function keepInRange() {
  const layers = layersOf(state.kind);
  state.layer = Math.min(state.layer, layers.length - 1);
  state.heads = state.heads.filter(head => head < layers[state.layer].length);
  if (!state.heads.length) state.heads = [0];
}
function draw() {
  writeHash();
  state.heads.sort((a, b) => a - b);
  const viewer = document.getElementById("viewer");
  viewer.replaceChildren();
  drawControls(element(viewer, "div", { class: "controls" }));
  const panes = element(viewer, "div", { class: "panes" });
  const grid = element(panes, "div", { class: "pane" });
  element(grid, "p", { class: "faint" }, "Rows are layers, columns are heads; within each map, rows are queries and columns are keys.");
  drawGrid(grid);
  const pane = element(panes, "div", { class: "pane", id: "figure" });
  const legend = element(pane, "div", { class: "legend" });
  element(legend, "span", {}, `${NAMES[state.kind]}, layer ${state.layer + 1}`);
  for (const head of state.heads) {
    const entry = element(legend, "span", {}, `head ${head + 1}`);
    entry.prepend(element(entry, "span", { class: "swatch", style: `background: ${colour(head)}` }));
  }
  element(pane, "div", { id: "readout" }, "\u00a0");
  const heads = state.heads.map(head => headOf(state.layer, head));
  const svg = element(pane, "svg", { role: "img" });
  if (state.view === "matrix") drawMatrix(svg, heads); else drawLines(svg, heads);
}
readHash();
draw();
addEventListener("hashchange", () => { readHash(); draw(); });
