"use strict";
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
