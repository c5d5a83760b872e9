"use strict";
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
