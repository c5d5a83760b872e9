"use strict";
// One script for both: the page of a campaign that runs asks for what is new once a second; a report has its state in the page.
// What a target says becomes text, never markup: only textContent and attributes are set.
const $ = (s) => document.querySelector(s);
const el = (tag, props, ...kids) => { const e = Object.assign(document.createElement(tag), props); e.append(...kids); return e; };
const variable = (v) => getComputedStyle(document.documentElement).getPropertyValue(v).trim();
const number = (n) => Math.round(n).toLocaleString("en");
const severities = ["critical", "high", "medium", "low", "info"];
const embedded = $("#data");
let state = null, charts = [], shown = null, drawnPanels = null;

function clock(s) {
  if (s > 0 && s < 9.95) return s.toFixed(1) + "s";
  s = Math.round(s);
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h ? h + "h " + String(m).padStart(2, "0") + "m" : m ? m + "m " + String(s % 60).padStart(2, "0") + "s" : s + "s";
}
function short(n) {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (n >= size) return (n / (unit === "k" ? 1e3 : size)).toFixed(n >= 10 * size ? 0 : 1).replace(/\.0$/, "") + unit;
  }
  return String(Math.round(n * 10) / 10);
}

// Charts.

const T = 0, EXECUTIONS = 1, CORPUS = 2, FEATURES = 3, FINDINGS = 4; // of a point
function rates(points) {
  // Over a window, since a second's figure jumps about, and the last two points may be close to each other.
  const w = Math.max(1, Math.round(points.length / 100)), least = points.length > 1 ? (points.at(-1)[T] - points[0][T]) / points.length / 2 : 0;
  const all = points.map((p, i) => {
    let j = Math.max(0, i - w);
    while (j > 0 && p[T] - points[j][T] < least) j--;
    const from = points[j], d = p[T] - (i ? from[T] : 0);
    return d > 0 ? Math.max(0, p[EXECUTIONS] - (i ? from[EXECUTIONS] : 0)) / d : 0;
  });
  if (all.length > 1) all[0] = all[1];
  return all;
}
const plots = [
  { title: "Features reached", color: "--c1", of: (ps) => ps.map((p) => p[FEATURES]) },
  { title: "Executions a second", color: "--c2", of: rates },
  { title: "Testcases in the corpus", color: "--c3", of: (ps) => ps.map((p) => p[CORPUS]) },
  { title: "Findings", color: "--c4", step: true, of: (ps) => ps.map((p) => p[FINDINGS]) },
];
const chartHeight = 170;
function makeCharts() {
  for (const c of charts) c.plot.destroy();
  charts = [];
  $("#charts").replaceChildren();
  for (const p of plots) {
    const box = el("div", {}), value = el("output", {});
    box.setAttribute("role", "img");
    $("#charts").append(el("figure", {}, el("figcaption", {}, el("span", { textContent: p.title }), value), box));
    const axis = { stroke: variable("--dim"), font: "11px system-ui", grid: { stroke: variable("--line"), width: 1 }, ticks: { stroke: variable("--line"), width: 1 } };
    const line = { label: p.title, stroke: variable(p.color), fill: variable(p.color) + "1c", width: 1.7, points: { show: false } };
    if (p.step) line.paths = uPlot.paths.stepped({ align: 1 });
    const chart = { box, value, of: p.of, title: p.title, data: [[], []] };
    chart.plot = new uPlot({
      width: Math.max(200, box.clientWidth), height: chartHeight, legend: { show: false },
      cursor: { y: false, sync: { key: "teasel" }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (u, lo, hi) => [0, hi > 0 ? hi * 1.08 : 1] } },
      axes: [{ ...axis, size: 28, values: (u, vs) => vs.map((v) => v >= 3600 ? +(v / 3600).toFixed(2) + "h" : v >= 120 ? +(v / 60).toFixed(1) + "m" : v + "s") },
        { ...axis, size: 46, values: (u, vs) => vs.map((v) => Number.isInteger(v) || v < 10 && !p.step ? short(v) : "") }],
      series: [{}, line],
      hooks: { setCursor: [() => readOut(chart)] },
    }, chart.data, box);
    charts.push(chart);
  }
}
function readOut(c) {
  const i = c.plot?.cursor.idx, ys = c.data[1];
  if (!ys.length) { c.value.textContent = ""; return; }
  c.value.textContent = i == null ? number(ys.at(-1)) : number(ys[i]) + " after " + clock(c.data[0][i]);
}
function drawCharts() {
  const ps = (state.series || []).slice();
  if (ps.length) ps.unshift([0, 0, 0, 0, 0, 0]); // where every campaign begins
  for (const c of charts) {
    c.data = [ps.map((p) => p[T]), c.of(ps)];
    c.plot.setData(c.data);
    readOut(c);
    c.box.setAttribute("aria-label", c.title + ": " + (ps.length ? number(c.data[1].at(-1)) + " after " + clock(ps.at(-1)[T]) : "nothing yet"));
  }
}

// Figures and tables.

function drawFigures() {
  const f = state.figures, all = state.findings;
  const ago = (at) => at > 0 ? (state.running ? clock(Math.max(0, f.elapsed - at)) + " ago" : "after " + clock(at)) : state.running ? "none yet" : "none";
  const worst = severities.map((s) => [s, all.filter((x) => x.severity === s && !x.unconfirmed).length]).filter(([, n]) => n).map(([s, n]) => n + " " + s).join(", ");
  const confirmed = all.filter((x) => !x.unconfirmed).length;
  const rows = [
    ["run time", clock(f.elapsed), state.duration ? (state.running ? clock(Math.max(0, state.duration - f.elapsed)) + " left" : "of " + clock(state.duration)) : ""],
    ["executions", short(f.executions), f.executions >= 1e4 ? number(f.executions) : ""],
    ...(f.messages ? [["messages", short(f.messages), f.elapsed > 0 ? number(Math.round(f.messages / f.elapsed)) + " a second" : ""]] : []),
    ["a second", number(f.rate), ""],
    ["findings", number(confirmed), worst || (all.length ? "" : state.running ? "none yet" : "none")],
    ["last finding", ago(f.last_found).replace(/ ago$|^after /, ""), f.last_found > 0 ? (state.running ? "ago" : "after the start") : ""],
    ["features", number(f.features), (f.elapsed > 60 ? "+" + number(f.fresh) + " in the last minute, " : "") + "last " + ago(f.last_kept)],
    ["corpus", number(f.corpus), number(f.evicted) + " evicted"],
    ["stability", f.stability > 0 ? (100 * f.stability).toFixed(1) + " %" : "–", f.stability > 0 ? "of features recur" : "not measured"],
    ["memory", number(f.memory / 1048576) + " MB", f.workers + (f.workers === 1 ? " worker" : " workers")],
  ];
  $("#figures").replaceChildren(...rows.map(([k, v, note]) => {
    const dd = el("dd", {}, v);
    if (note) dd.append(el("small", { textContent: note, title: note }));
    return el("div", {}, el("dt", { textContent: k }), dd);
  }));
}
const cell = (v, cls) => el("td", { textContent: v, className: cls || "" });
function drawTables() {
  const share = (n, all) => all ? (100 * n / all).toFixed(1) + " %" : "";
  const stages = state.stages || [], sum = stages.reduce((a, g) => a + g.executions, 0);
  $("#stages tbody").replaceChildren(...stages.map((g) => el("tr", {}, cell(g.name), cell(number(g.executions), "n"), cell(share(g.executions, sum), "n"), cell(number(g.kept), "n"),
    cell(g.executions ? number(1e6 * g.kept / g.executions) : "", "n"))));
  const workers = state.workers || [], total = workers.reduce((a, w) => a + w.executions, 0);
  $("#workers tbody").replaceChildren(...workers.map((w) => el("tr", {}, cell(w.number), cell(number(w.executions), "n"), cell(share(w.executions, total), "n"))));
  for (const id of ["stages", "workers"]) {
    const t = $("#" + id);
    t.hidden = !t.tBodies[0].rows.length;
    t.parentNode.querySelector(".empty")?.remove();
    if (t.hidden) t.parentNode.append(el("p", { className: "empty", textContent: "Not known." }));
  }
}
function drawLog() {
  const lines = (state.log || []).slice(-500), box = $("#log");
  if (+box.dataset.n === lines.length && box.dataset.last === (lines.at(-1)?.text || "")) return;
  box.dataset.n = lines.length;
  box.dataset.last = lines.at(-1)?.text || "";
  box.replaceChildren(...lines.toReversed().map((l) => el("div", {}, el("time", { textContent: clock(l.elapsed).padStart(7) }), (l.kind === "note" ? "note: " : l.kind === "unconfirmed" ? "unconfirmed: " : "") + l.text)));
  if (!lines.length) box.append(el("p", { className: "empty", textContent: "Nothing yet." }));
}

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

// Findings.

function makeFilter() {
  for (const s of severities) {
    const box = el("input", { type: "checkbox", value: s, checked: true });
    box.addEventListener("change", list);
    $("#severities").append(el("label", {}, box, el("span", { className: s, textContent: s })));
  }
  $("#search").addEventListener("input", list);
  $("#order").addEventListener("change", list);
}
function wanted() {
  const q = $("#search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const on = new Set([...document.querySelectorAll("#severities input:checked")].map((b) => b.value));
  const fs = state.findings.filter((f) => on.has(f.severity) && q.every((w) => (f.rule + " " + f.subject + " " + f.message + " " + f.id + " " + (f.test || "") + " " + (f.known || "")).toLowerCase().includes(w)));
  const order = $("#order").value, rank = (f) => severities.indexOf(f.severity);
  const by = { severity: (a, b) => rank(a) - rank(b), found: (a, b) => (b.found || 0) - (a.found || 0), occurrences: (a, b) => b.occurrences - a.occurrences }[order];
  return fs.sort((a, b) => !!a.unconfirmed - !!b.unconfirmed || !!a.known - !!b.known || by(a, b) || (a.rule + a.subject + a.id < b.rule + b.subject + b.id ? -1 : 1));
}
const when = (f) => [f.found ? "after " + clock(f.found) : "", f.occurrences > 1 ? "seen " + short(f.occurrences) + "×" : ""].filter(Boolean).join(" · ");
function list() {
  if (!state) return;
  const fs = wanted(), stamp = fs.map((f) => f.id + f.version).join();
  $("#count").textContent = fs.length === state.findings.length ? fs.length + (fs.length === 1 ? " finding" : " findings") : fs.length + " of " + state.findings.length;
  if (stamp === shown) { // leave the rows, and the focus in them, alone
    for (const f of fs) { const w = document.querySelector("#f-" + f.id + " .when"); if (w) w.textContent = when(f); }
    return;
  }
  shown = stamp;
  const before = new Map([...document.querySelectorAll("#findings details")].map((d) => [d.id, d]));
  const focused = document.activeElement?.closest?.("#findings details")?.id;
  $("#findings").replaceChildren(...fs.map((f) => {
    const old = before.get("f-" + f.id);
    return old && old.dataset.version === String(f.version) ? old : row(f, old?.open);
  }));
  if (!fs.length) $("#findings").append(el("p", { className: "empty", textContent: state.findings.length ? "No finding matches." : state.running ? "Nothing found yet." : "Nothing was found." }));
  if (focused && !document.activeElement?.closest?.("#findings")) document.getElementById(focused)?.querySelector("summary")?.focus();
}
function row(f, open) {
  const rule = el("span", { className: "rule", textContent: f.rule });
  for (const [on, text] of [[f.unconfirmed, "unconfirmed"], [!f.unconfirmed && f.tries > 0 && f.stable < f.tries, "flaky " + f.stable + "/" + f.tries], [f.known, "known"]]) {
    if (on) rule.append(el("span", { className: "tag", textContent: text }));
  }
  const d = el("details", { id: "f-" + f.id }, el("summary", {}, el("span", { className: "sev " + f.severity, textContent: f.severity }), rule,
    el("span", { className: "what" }, el("b", { textContent: f.subject }), "  " + f.message), el("span", { className: "when", textContent: when(f) })));
  d.dataset.version = f.version;
  const fill = () => { if (d.open && !d.querySelector(".body")) d.append(body(f)); }; // of a thousand findings, only the text of those that are looked at
  d.addEventListener("toggle", fill);
  if (open) { d.open = true; fill(); }
  return d;
}
function body(f) {
  const out = el("div", { className: "body" }, el("p", { textContent: f.message }));
  const seen = f.tries ? "reproduced " + f.stable + " of " + f.tries + " times" : "there was no time to reproduce it";
  out.append(el("p", { className: "facts", textContent: [f.test, seen, "seen " + number(f.occurrences) + (f.occurrences === 1 ? " time" : " times"), "first at execution " + number(f.execution) + " of worker " + f.worker, "id " + f.id, f.known].filter(Boolean).join(" · ") }));
  for (const c of f.commands || []) out.append(command(c));
  const { messages, rest } = exchange(f.detail || "");
  if (messages.length) {
    out.append(el("h3", { textContent: "Exchange" }));
    const most = 60;
    if (messages.length > most) out.append(el("p", { className: "facts", textContent: (messages.length - most) + " earlier messages are in the finding's file" }));
    out.append(...messages.slice(-most).map(([how, text]) => el("div", { className: "msg " + how }, el("span", { textContent: { sent: "→ sent", received: "← received", note: "connection" }[how] }), el("pre", { tabIndex: 0, textContent: indent(text) }))));
  }
  if (rest) out.append(el("h3", { textContent: messages.length ? "What became of the target" : "Detail" }), el("pre", { tabIndex: 0, textContent: rest }));
  out.append(el("h3", { textContent: "Input" }), inputs(f));
  const rule = (state.rules || {})[f.rule];
  if (rule) {
    out.append(el("h3", { textContent: "About the rule" }), el("p", {}, el("b", { textContent: rule.title })));
    for (const p of (rule.help || "").split(/\n\s*\n/)) if (p.trim() && p.trim() !== rule.title) out.append(el("p", { textContent: p.replace(/\s+/g, " ") }));
    if (rule.source) out.append(el("p", { className: "facts", textContent: "Source: " + rule.source }));
  }
  return out;
}
function command(c) {
  const button = el("button", { type: "button", textContent: "Copy" }), code = el("code", { tabIndex: 0, textContent: c.text });
  button.setAttribute("aria-label", "Copy: " + c.title);
  button.addEventListener("click", async () => {
    let copied = false;
    try { await navigator.clipboard.writeText(c.text); copied = true; } catch { // a file may not use the clipboard everywhere: select it instead
      getSelection().selectAllChildren(code);
      copied = document.execCommand("copy");
    }
    button.textContent = copied ? "Copied" : "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return el("div", { className: "command" }, el("span", { textContent: c.title }), code, button);
}
// exchange takes the messages that were exchanged off the beginning of a finding's detail.
function exchange(detail) {
  const lines = detail.replace(/\n+$/, "").split("\n"), messages = [];
  let i = 0;
  for (; i < lines.length && /^[<>-] /.test(lines[i]); i++) {
    if (lines[i].slice(2).trim()) messages.push([{ ">": "sent", "<": "received", "-": "note" }[lines[i][0]], lines[i].slice(2)]);
  }
  return { messages, rest: lines.slice(i).join("\n").trim() };
}
// indent lays JSON out, without parsing it: numbers, duplicates and escapes stay as they were.
function indent(text) {
  if (!/^\s*[{[]/.test(text) || text.length < 60 || text.length > 100000) return text;
  let out = "", depth = 0, quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i], line = () => "\n" + "  ".repeat(Math.max(0, depth));
    if (quoted) { out += c; if (c === "\\") out += text[++i] ?? ""; else if (c === '"') quoted = false; continue; }
    if (c === '"') { quoted = true; out += c; }
    else if ((c === "{" && text[i + 1] === "}") || (c === "[" && text[i + 1] === "]")) { out += c + text[++i]; }
    else if (c === "{" || c === "[") { if (++depth > 100) return text; out += c + line(); }
    else if (c === "}" || c === "]") { depth--; out += line() + c; }
    else if (c === ",") out += c + line();
    else if (c === ":") out += ": ";
    else if (!/\s/.test(c)) out += c;
  }
  return out;
}
// inputs shows the minimised input, and beside it the one that the finding was first seen with; what differs is marked.
function inputs(f) {
  const bytes = (b64) => Uint8Array.from(atob(b64 || ""), (c) => c.charCodeAt(0));
  const a = bytes(f.input), b = bytes(f.original), two = b.length > 0 && f.original !== f.input;
  let from = 0, end = 0;
  if (two) {
    const n = Math.min(a.length, b.length);
    while (from < n && a[from] === b[from]) from++;
    while (end < n - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  }
  const one = (title, data, size) => {
    const href = "data:application/octet-stream;base64," + (data === a ? f.input : f.original);
    const note = size > data.length ? ", the first " + number(data.length) + " shown; the finding's file has all" : "";
    const save = el("a", { href, download: f.id + (data === a ? "" : ".original"), textContent: "save" });
    return el("div", {}, el("p", { className: "facts" }, title + ", " + number(size) + (size === 1 ? " byte" : " bytes") + note + " · ", save), el("pre", { tabIndex: 0 }, ...dump(data, two ? from : data.length, two ? data.length - end : data.length)));
  };
  if (!two) return one("Minimised", a, f.input_size);
  return el("div", { className: "pair inputs" }, one("Minimised", a, f.input_size), one("As first seen", b, f.original_size));
}
// dump returns bytes as text, or in hexadecimal where they are none; those from, up to before to, are marked.
function dump(data, from, to) {
  const most = 16384;
  const cut = data.subarray(0, most), left = data.length > most ? ["\n… " + number(data.length - most) + " more bytes: save the input to see them"] : [];
  const marked = (parts) => [parts[0], parts[1] ? el("mark", { textContent: parts[1] }) : "", parts[2], ...left];
  try {
    const decode = (p, q) => new TextDecoder("utf-8", { fatal: true }).decode(cut.subarray(Math.min(p, cut.length), Math.min(q, cut.length)));
    const parts = [decode(0, from), decode(from, to), decode(to, cut.length)];
    if (!/[^\P{C}\n\t\r]|[\u2028\u2029]/u.test(parts.join(""))) return marked(parts.map((p) => p.replaceAll("\r", "␍")));
  } catch { /* not text */ }
  const out = [];
  for (let i = 0; i < cut.length; i += 16) {
    const line = cut.subarray(i, i + 16), hex = [...line].map((c) => c.toString(16).padStart(2, "0"));
    const changed = i < to && i + 16 > from, text = hex.join(" ").padEnd(48) + "  " + [...line].map((c) => c >= 32 && c < 127 ? String.fromCharCode(c) : ".").join("");
    out.push(i.toString(16).padStart(6, "0") + "  ", changed ? el("mark", { textContent: text }) : text, "\n");
  }
  return [...out, ...left];
}

// The corpus, which is asked for when it is looked at.

async function ask(path) {
  const r = await fetch(path, { signal: AbortSignal.timeout(5000) });
  if (!r.ok) throw new Error(await r.text());
  return r.json();
}
let asked = 0;
async function browse() {
  if (!$("#corpus").open) return;
  const mine = ++asked, query = new URLSearchParams({ q: $("#corpus-search").value, order: $("#corpus-order").value });
  try {
    const got = await ask("/api/testcases?" + query);
    if (mine !== asked) return; // a later question has been asked meanwhile
    const before = new Map([...document.querySelectorAll("#testcases details")].map((d) => [d.id, d]));
    $("#corpus-count").textContent = got.matched === got.total ? number(got.total) + (got.total === 1 ? " testcase" : " testcases") : number(got.matched) + " of " + number(got.total);
    $("#testcases").replaceChildren(...got.testcases.map((t) => before.get("t-" + t.key) || testcase(t)));
    if (got.matched > got.testcases.length) $("#testcases").append(el("p", { className: "empty", textContent: "and " + number(got.matched - got.testcases.length) + " more: search for a stage, a key or a parent" }));
    if (!got.matched) $("#testcases").append(el("p", { className: "empty", textContent: got.total ? "No testcase matches." : "Nothing was kept yet." }));
  } catch (e) {
    $("#corpus-count").textContent = "The corpus could not be read: " + e.message;
  }
}
function testcase(t) {
  const size = number(t.size) + (t.size === 1 ? " byte" : " bytes"), fresh = t.first ? number(t.first) + " new of " + number(t.features) + " features" : "simpler, " + number(t.features) + " features";
  const d = el("details", { id: "t-" + t.key }, el("summary", {}, el("code", { textContent: t.key }), el("b", { textContent: t.stage || "seed" }), el("span", { className: "what", textContent: fresh }),
    el("span", { className: "when", textContent: [size, "picked " + short(t.picked) + "×", "after " + clock(t.found)].join(" · ") })));
  d.addEventListener("toggle", async () => {
    if (!d.open || d.querySelector(".body")) return;
    const box = el("div", { className: "body" }, el("p", { textContent: t.origin }), el("p", { textContent: t.why }));
    d.append(box);
    try {
      const all = await ask("/api/testcase?key=" + encodeURIComponent(t.key));
      const data = Uint8Array.from(atob(all.data || ""), (c) => c.charCodeAt(0));
      box.append(el("p", { className: "facts" }, size + (all.size > data.length ? ", the first " + number(data.length) + " shown" : "") + " · ", el("a", { href: "data:application/octet-stream;base64," + (all.data || ""), download: t.key, textContent: "save" })),
        el("pre", { tabIndex: 0 }, ...dump(data, data.length, data.length)));
      if (t.parent) box.append(parentLink(t.parent));
    } catch (e) {
      box.append(el("p", { className: "facts", textContent: e.message }));
    }
  });
  return d;
}
function parentLink(key) {
  const b = el("button", { type: "button", textContent: "Show testcase " + key + " and what was made from it" });
  b.addEventListener("click", () => { $("#corpus-search").value = key; browse(); $("#corpus-search").focus(); });
  return el("p", {}, b);
}

// The page as a whole.

async function setPaused(on) {
  try {
    const r = await fetch(on ? "/api/pause" : "/api/resume", { method: "POST", signal: AbortSignal.timeout(5000) });
    if (!r.ok) throw new Error(await r.text());
  } catch { /* the next poll says that there is no connection */ }
  poll();
}

function draw() {
  document.title = (state.findings.length ? "(" + state.findings.length + ") " : "") + state.target + " – teasel";
  $("#kind").textContent = state.kind;
  $("#target").textContent = state.target;
  $("#status").textContent = state.status;
  $("#status").className = state.running ? "live" : "";
  $("#pause").hidden = !state.pausable;
  $("#pause").textContent = state.status === "paused" ? "Go on" : "Pause";
  $("#about").textContent = ["teasel " + (state.teasel || ""), "seed " + state.seed, state.dir].filter(Boolean).join(" · ");
  drawFigures();
  drawCharts();
  list();
  drawTables();
  drawPanels();
  drawLog();
  const left = [...(state.blocked || []).map((b) => b + ": blocked, since it may destroy something"), ...(state.skipped || []).map((s) => s.subject + ": " + s.reason)];
  $("#left").hidden = !left.length;
  $("#left ul").replaceChildren(...left.map((t) => el("li", { textContent: t })));
}
// take takes over a state, or what has changed in one.
function take(next) {
  const same = state && !next.whole && state.run === next.run;
  const all = new Map(same ? state.findings.map((f) => [f.id, f]) : []);
  for (const f of next.findings || []) all.set(f.id, { ...f, version: next.revision });
  for (const [id, n] of Object.entries(next.counts || {})) if (all.has(id)) all.get(id).occurrences = n;
  if (same) {
    if (!next.thinned) next.series = state.series.concat(next.series || []);
    next.log = (state.log || []).concat(next.log || []).slice(-500);
    next.panels ??= state.panels;
    next.rules = { ...state.rules, ...next.rules };
  }
  next.series ??= [];
  next.findings = [...all.values()];
  state = next;
}
let timer = 0;
async function poll() {
  clearTimeout(timer);
  try {
    const r = await fetch("/api/state?since=" + (state?.revision || 0) + "&run=" + encodeURIComponent(state?.run || ""), { signal: AbortSignal.timeout(5000) });
    if (!r.ok) throw new Error(await r.text());
    take(await r.json());
    draw();
  } catch {
    $("#status").textContent = "no connection: teasel has ended, or cannot be reached";
    $("#status").className = "lost";
  }
  if (!document.hidden) timer = setTimeout(poll, state && !state.running ? 5000 : 1000);
}

const themes = ["auto", "light", "dark"];
function setTheme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
  $("#theme").textContent = "Theme: " + name;
  try { localStorage.setItem("teasel-theme", name); } catch { /* a file may have no storage */ }
  makeCharts();
  if (state) drawCharts();
}
let theme = "auto";
try { theme = themes.includes(localStorage.getItem("teasel-theme")) ? localStorage.getItem("teasel-theme") : "auto"; } catch { /* as above */ }
makeFilter();
setTheme(theme);
$("#theme").addEventListener("click", () => { theme = themes[(themes.indexOf(theme) + 1) % themes.length]; setTheme(theme); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(theme));
let resized = 0;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => { for (const c of charts) c.plot.setSize({ width: Math.max(200, c.box.clientWidth), height: chartHeight }); }, 100); });
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
  if (e.key === "/" && !typing) { e.preventDefault(); $("#search").focus(); return; }
  if (e.key === "Escape") {
    const here = document.activeElement?.closest?.("#findings details")?.querySelector("summary");
    for (const d of document.querySelectorAll("#findings details[open]")) d.open = false;
    if (typing) document.activeElement.blur(); else here?.focus();
    return;
  }
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  const rows = [...document.querySelectorAll("#findings summary")], here = rows.indexOf(document.activeElement);
  if (here < 0 && !(document.activeElement === $("#search") && e.key === "ArrowDown")) return;
  e.preventDefault();
  rows[Math.max(0, Math.min(rows.length - 1, here + (e.key === "ArrowDown" ? 1 : -1)))]?.focus();
});
if (embedded) { take(JSON.parse(embedded.textContent)); draw(); } else {
  $("#pause").addEventListener("click", () => setPaused(state.status !== "paused"));
  $("#corpus").addEventListener("toggle", browse);
  $("#corpus-again").addEventListener("click", browse);
  $("#corpus-order").addEventListener("change", browse);
  $("#corpus-search").addEventListener("input", browse);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
  poll();
}
