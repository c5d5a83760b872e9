"use strict";
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
  const own = (g, text) => g.executions || g.kept || !g.time ? text : ""; // what takes time in the executions of others has none of its own
  $("#stages tbody").replaceChildren(...stages.map((g) => el("tr", {}, cell(g.name), cell(own(g, number(g.executions)), "n"), cell(own(g, share(g.executions, sum)), "n"), cell(own(g, number(g.kept)), "n"),
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
