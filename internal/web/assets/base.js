"use strict";
// The script is the same for both: the page of a campaign that runs asks for what is new once a second; a report has its state in the page.
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
