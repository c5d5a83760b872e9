"use strict";
// Panels of the kind of target.

function drawPanels() {
  if (drawnPanels === state.panels) return;
  drawnPanels = state.panels;
  $("#panels").replaceChildren(...(state.panels || []).map((p, i) => {
    const s = el("section", {}, el("h2", { id: "h-panel" + i, textContent: p.title }));
    s.setAttribute("aria-labelledby", "h-panel" + i);
    if (p.nodes?.length) s.append(graph(p));
    const numeric = (p.head || []).map((_, c) => c > 0 && (p.rows || []).every((r) => /^([\d,]+|never|)$/.test(r[c] || "")));
    s.append(el("div", { className: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...(p.head || []).map((h, c) => el("th", { scope: "col", textContent: h, className: numeric[c] ? "n" : "" })))),
      el("tbody", {}, ...(p.rows || []).map((r, at) => el("tr", {}, ...r.map((v, c) => c === 0 && p.files?.[at] && !embedded ? el("td", {}, sourceButton(v, p.files[at])) : cell(v, (numeric[c] ? "n " : "") + (numeric[c] && v === "never" ? "never" : numeric[c] && v ? "hit" : "")))))))));
    return s;
  }));
}
function sourceButton(text, file) {
  const b = el("button", { type: "button", className: "file", textContent: text, title: "Show the source" });
  b.addEventListener("click", () => showSource(file));
  return b;
}
// showSource opens a source file, with the lines at which a block of code begins marked as reached or not.
async function showSource(file) {
  const box = $("#source"), dialog = $("#source-dialog");
  $("#h-source").textContent = "";
  box.replaceChildren("…");
  if (!dialog.open) dialog.showModal();
  try {
    const got = await ask("/api/source?file=" + encodeURIComponent(file)), reached = new Set(got.reached || []), missed = new Set(got.missed || []);
    $("#h-source").textContent = got.name;
    $("#source-count").textContent = number(reached.size) + " of " + number(reached.size + missed.size) + " lines at which a block of code begins are reached";
    if (!got.text) { box.replaceChildren("The file cannot be read. Lines that are not reached: " + (got.missed || []).join(", ")); return; }
    box.replaceChildren(...got.text.split("\n").map((text, i) => {
      const n = i + 1, state = reached.has(n) ? "reached" : missed.has(n) ? "missed" : "";
      return el("div", { className: state }, el("span", { textContent: String(n).padStart(5) + (state === "reached" ? " + " : state ? " - " : "   ") }), text);
    }));
    box.querySelector(".missed")?.scrollIntoView({ block: "center" });
  } catch (e) { box.replaceChildren(e.message); }
}
// graph lays the states out in columns: those that take as many steps to reach stand above each other.
function graph(p) {
  const svg = (tag, attrs, text) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const k in attrs) e.setAttribute(k, attrs[k]); if (text != null) e.textContent = text; return e; };
  const column = new Map([[p.nodes[0].name, 0]]), edges = p.edges || [];
  for (let more = true; more;) {
    more = false;
    for (const e of edges) if (column.has(e.from) && !column.has(e.to) && !e.undeclared) { column.set(e.to, column.get(e.from) + 1); more = true; }
  }
  const columns = [];
  for (const n of p.nodes) { const c = column.get(n.name) ?? 0; (columns[c] ||= []).push(n); }
  const W = 150, H = 40, GX = 130, GY = 46, rows = Math.max(...columns.map((c) => c.length));
  const width = columns.length * (W + GX) - GX + 60, height = rows * (H + GY) + 50, at = new Map();
  columns.forEach((c, x) => c.forEach((n, y) => at.set(n.name, { x: 30 + x * (W + GX), y: 40 + (height - 50 - c.length * (H + GY)) / 2 + y * (H + GY), n })));
  const out = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "States and the steps between them; the table below has the same" });
  const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
  marker.append(svg("path", { d: "M0 0 8 4 0 8z", fill: "context-stroke" }));
  out.append(marker);
  const pairs = new Map();
  for (const e of edges) {
    const key = JSON.stringify([e.from, e.to]), g = pairs.get(key) || { from: e.from, to: e.to, labels: [], times: 0, undeclared: true };
    g.labels.push(e.label + (e.times ? " (" + e.times + ")" : " (never)"));
    g.times = Math.max(g.times, e.times);
    g.undeclared &&= !!e.undeclared;
    pairs.set(key, g);
  }
  for (const g of pairs.values()) {
    const a = at.get(g.from), b = at.get(g.to);
    if (!a || !b) continue;
    let d, lx, ly;
    if (a === b) {
      const x = a.x + W / 2;
      d = `M${x - 16} ${a.y} C${x - 26} ${a.y - 26} ${x + 26} ${a.y - 26} ${x + 16} ${a.y}`; lx = x; ly = a.y - 22;
    } else if (b.x > a.x) {
      const x1 = a.x + W, y1 = a.y + H / 2, y2 = b.y + H / 2;
      d = `M${x1} ${y1} C${x1 + GX / 2} ${y1} ${b.x - GX / 2} ${y2} ${b.x} ${y2}`; lx = (x1 + b.x) / 2; ly = (y1 + y2) / 2 - 5;
    } else if (b.x < a.x) {
      const x1 = a.x + W / 2, x2 = b.x + W / 2, y = Math.max(a.y, b.y) + H + 30;
      d = `M${x1} ${a.y + H} C${x1} ${y} ${x2} ${y} ${x2} ${b.y + H}`; lx = (x1 + x2) / 2; ly = b.y + H + .75 * (y - b.y - H) + 13;
    } else {
      const down = b.y > a.y, x = a.x + (down ? W * .72 : W * .28);
      d = `M${x} ${down ? a.y + H : a.y} L${x} ${down ? b.y : b.y + H}`; lx = x + (down ? 34 : -34); ly = (a.y + b.y + H) / 2;
    }
    const path = svg("path", { d, class: "edge" + (g.times ? "" : " never") + (g.undeclared ? " undeclared" : ""), "marker-end": "url(#arrow)" });
    path.append(svg("title", {}, g.from + " to " + g.to + ": " + g.labels.join(", ")));
    const label = g.labels.length > 2 ? g.labels.length + " messages" : g.labels.map((l) => l.replace(/ \(.*\)$/, "")).join(", ");
    out.append(path, svg("text", { x: lx, y: ly, "text-anchor": "middle", class: "label" }, label.length > 22 ? label.slice(0, 21) + "…" : label));
  }
  for (const { x, y, n } of at.values()) {
    out.append(svg("rect", { x, y, width: W, height: H, rx: 8, class: "node" + (n.times ? "" : " never") }), svg("text", { x: x + W / 2, y: y + 17, "text-anchor": "middle" }, n.name.length > 20 ? n.name.slice(0, 19) + "…" : n.name),
      svg("text", { x: x + W / 2, y: y + 32, "text-anchor": "middle", class: "label dim" }, n.times ? number(n.times) + " testcases" : "never reached"));
  }
  const box = el("div", { className: "graph", tabIndex: 0 }, out);
  box.setAttribute("aria-label", "State graph");
  return box;
}
