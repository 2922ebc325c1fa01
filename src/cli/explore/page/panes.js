/* panes.js: the columns, and the lines in them that belong together. */
"use strict";

const columns = [
  { id: "graph", title: "Graph", hint: "control flow" },
  { id: "guest", title: "Guest", hint: "the file's code" },
  { id: "lifted", title: "Lifted", hint: "LLVM-IR as it is lifted" },
  { id: "ir", title: "Optimised", hint: "" },
  { id: "host", title: "Host", hint: "" },
];
const NARROW = matchMedia("(max-width: 820px)");

const panes = {
  shown: new Set(["lifted", "ir", "host", "guest"]),
  lines: new Map(), // of a guest instruction's number: its elements in each column
  lit: 0,
  pinned: 0,
  draw: {}, // what draws a column when it is shown
  heat: () => 0, // of a guest instruction's number: how red it is, from 0 to 1
  stripe: () => null, // and its block
};

/* ---------------------------------------------------------------- columns */

function startPanes() {
  const tabs = document.getElementById("tabs"), place = document.getElementById("panes");
  columns.forEach((c, i) => {
    c.tab = make("button", { title: `${c.title} (${i + 1})` }, c.title);
    c.tab.addEventListener("click", () => toggleColumn(c.id));
    tabs.append(c.tab);
    c.hintElement = make("small", {}, c.hint);
    c.head = make("span", {}, c.title);
    c.body = make("div", { tabindex: "0", "aria-label": c.title });
    c.element = make("section", { class: "pane " + c.id }, make("h3", {}, c.head, c.hintElement), c.body);
    place.append(c.element);
  });
  place.addEventListener("mouseover", (event) => light(fromOf(event.target)));
  place.addEventListener("mouseleave", () => light(0));
  place.addEventListener("click", (event) => {
    const link = event.target.closest("[data-open]");
    if (link) list.open(link.dataset.open);
    else if (!getSelection().toString()) pin(fromOf(event.target), event.target.closest(".pane"));
  });
  NARROW.addEventListener("change", showColumns);
  chooseColumns(remembered("columns", [...panes.shown]));
}

function chooseColumns(names) {
  const known = names.filter((id) => columns.some((c) => c.id === id));
  if (known.length) panes.shown = new Set(known);
  showColumns();
}

function column(id) {
  return columns.find((c) => c.id === id);
}

/* In a narrow window there is one at a time. */
function isShown(id) {
  if (!NARROW.matches) return panes.shown.has(id);
  return id === ([...panes.shown].pop() || "guest");
}

function showColumns() {
  for (const c of columns) {
    c.element.hidden = !isShown(c.id);
    c.tab.setAttribute("aria-pressed", isShown(c.id));
    if (isShown(c.id)) drawColumn(c);
  }
  if (panes.pinned) pin(panes.pinned, null);
}

function toggleColumn(id) {
  const wasShown = isShown(id);
  panes.shown.delete(id);
  if (!wasShown || NARROW.matches) panes.shown.add(id); // the last one is what narrow windows show
  if (!panes.shown.size) panes.shown.add(id);
  if (!NARROW.matches) remember("columns", [...panes.shown]);
  showColumns();
}

/* ---------------------------------------------------------------- drawing */

/* Columns are drawn when they are shown first. */
function resetColumns(draw) {
  panes.draw = draw;
  panes.lines = new Map();
  panes.lit = panes.pinned = 0;
  for (const c of columns) {
    c.drawn = false;
    c.body.replaceChildren();
    c.body.scrollTop = c.body.scrollLeft = 0;
    if (isShown(c.id)) drawColumn(c);
  }
}

function drawColumn(c) {
  if (c.drawn || !panes.draw[c.id]) return;
  c.drawn = true;
  c.body.replaceChildren(...panes.draw[c.id]());
  note(c);
}

function redraw(id) {
  const c = column(id);
  c.drawn = false;
  if (isShown(id)) drawColumn(c);
  if (panes.pinned) pin(panes.pinned, null);
}

/* Learns which elements of a column are of which guest instruction. */
function note(c) {
  for (const known of panes.lines.values()) delete known[c.id];
  for (const element of c.body.querySelectorAll("[data-from]")) {
    const from = Number(element.dataset.from);
    if (!panes.lines.has(from)) panes.lines.set(from, {});
    (panes.lines.get(from)[c.id] ||= []).push(element);
  }
}

/* A line of code. */
function makeLine(text, from, words, kind = "") {
  const code = make("code");
  const isLabel = /^[^\s].*:$/.test(text);
  if (isLabel) code.append(text);
  else paint(code, text, words, functionNamed);
  const line = make("div", { class: `l ${kind} ${isLabel ? "label" : ""}` }, code);
  if (!from) return line;
  line.dataset.from = from;
  line.style.setProperty("--stripe", panes.stripe(from));
  const heat = panes.heat(from);
  if (heat && !kind) line.style.setProperty("--heat", (0.45 * heat).toFixed(3));
  return line;
}

function makeLines(texts, froms, words) {
  return make("div", { class: "lines" }, ...texts.map((text, i) => makeLine(text, froms[i], words)));
}

/* ---------------------------------------------------------------- lines that belong together */

function fromOf(element) {
  const line = element.closest("[data-from]");
  return line ? Number(line.dataset.from) : 0;
}

function mark(from, kind, on) {
  const known = panes.lines.get(from);
  if (known) for (const elements of Object.values(known)) for (const e of elements) e.classList.toggle(kind, on);
}

function light(from) {
  if (from === panes.lit) return;
  mark(panes.lit, "lit", false);
  panes.lit = from;
  mark(from, "lit", true);
}

/* Chooses a guest instruction, and brings its lines into view, but for the column that it was chosen in. 0: none. */
function pin(from, where) {
  mark(panes.pinned, "pinned", false);
  panes.pinned = from;
  mark(from, "pinned", true);
  const known = panes.lines.get(from) || {};
  for (const c of columns) {
    const first = known[c.id] && known[c.id][0];
    if (first && isShown(c.id) && c.element !== where) bringIntoView(c.body, first);
  }
}

function bringIntoView(body, element) {
  const inner = element.getBoundingClientRect(), outer = body.getBoundingClientRect();
  if (inner.top >= outer.top + 40 && inner.bottom <= outer.bottom - 20) return;
  body.scrollTop += inner.top - outer.top - outer.height / 3;
}
