"use strict";
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
