"use strict";
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
