/* list.js: the functions of the file, and the search among them. */
"use strict";

const ROWS_MAX = 500; // more are not read by anybody, and make the page slow
const [ADDRESS, SIZE, NAME, COST] = [0, 1, 2, 3]; // the members of a function in the list

const list = {
  all: [],
  shown: [],
  chosen: -1, // the row that the arrow keys are at
  opened: null,
  byAddress: new Map(),
  byName: new Map(),
  executed: 0,
  left_out: 0,
  open: null, // what to call with the address of a function that the user wants to see
};

function titleOf(f) {
  return f[NAME].split("@")[0] || f[ADDRESS];
}

function startList(file, open) {
  Object.assign(list, { all: file.functions.filter((f) => isThere(f[ADDRESS])), executed: file.executed, left_out: file.functions.length, open });
  list.left_out -= list.all.length;
  for (const f of list.all) {
    list.byAddress.set(f[ADDRESS], f);
    if (f[NAME]) list.byName.set(titleOf(f), f);
  }
  const rows = document.getElementById("functions");
  rows.addEventListener("click", (event) => {
    const row = event.target.closest("a");
    if (row) open(row.dataset.at);
  });
  const search = document.getElementById("search");
  search.addEventListener("input", showList);
  for (const element of [search, rows]) element.addEventListener("keydown", moveInList);
  showList();
}

/* Those that were executed most come first; then those whose name begins with what is searched. */
function matching(words) {
  const found = list.all.filter((f) => words.every((w) => f[NAME].toLowerCase().includes(w) || f[ADDRESS].includes(w)));
  const isNear = (f) => (words.length && f[NAME].toLowerCase().startsWith(words[0]) ? 1 : 0);
  if (!list.executed && !words.length) return found;
  return found.sort((a, b) => b[COST] - a[COST] || isNear(b) - isNear(a));
}

function showList() {
  const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  list.shown = matching(words);
  list.chosen = words.length && list.shown.length ? 0 : -1;
  const count = list.shown.length;
  document.getElementById("found").textContent = words.length
    ? `${grouped(count)} of ${grouped(list.all.length)} functions`
    : `${grouped(count)} function${count === 1 ? "" : "s"}` + (list.executed ? `, ${brief(list.executed)} instructions executed` : "");
  const rows = list.shown.slice(0, ROWS_MAX).map(makeRow);
  if (count > ROWS_MAX) rows.push(make("p", {}, `… and ${grouped(count - ROWS_MAX)} more: search for them`));
  if (list.left_out) rows.push(make("p", {}, `This page has not all of the file: ${grouped(list.left_out)} further functions are left out.`));
  if (!count) rows.push(make("p", {}, "No function has such a name or address."));
  document.getElementById("functions").replaceChildren(...rows);
  markRows();
}

function makeRow(f) {
  const small = list.executed ? (f[COST] ? percent(f[COST], list.executed) : "") : f[SIZE] ? `${grouped(f[SIZE])} B` : "";
  const title = `${titleOf(f)} at ${f[ADDRESS]}` + (f[SIZE] ? `, ${f[SIZE]} bytes` : "") + (f[COST] ? `, ${grouped(f[COST])} instructions executed` : "");
  const row = make("a", { role: "option", "data-at": f[ADDRESS], title }, make("span", {}, titleOf(f)), make("small", {}, small));
  if (f[COST]) {
    const share = (100 * f[COST]) / list.executed;
    row.style.backgroundImage = `linear-gradient(to right, rgba(var(--hot), .38) ${share}%, transparent ${share}%)`;
  }
  return row;
}

function markRows() {
  const rows = document.querySelectorAll("#functions a");
  rows.forEach((row, i) => {
    row.classList.toggle("chosen", i === list.chosen);
    row.setAttribute("aria-selected", row.dataset.at === list.opened);
  });
  if (rows[list.chosen]) rows[list.chosen].scrollIntoView({ block: "nearest" });
}

function moveInList(event) {
  const last = Math.min(list.shown.length, ROWS_MAX) - 1;
  if (event.key === "ArrowDown") list.chosen = Math.min(list.chosen + 1, last);
  else if (event.key === "ArrowUp") list.chosen = Math.max(list.chosen - 1, 0);
  else if (event.key === "Enter" && list.shown[list.chosen]) {
    list.open(list.shown[list.chosen][ADDRESS]);
    columns.find((c) => isShown(c.id)).body.focus(); // the other keys are for what was opened
  } else return;
  event.preventDefault();
  markRows();
}

function showOpened(at) {
  list.opened = at;
  markRows();
  const row = document.querySelector('#functions a[aria-selected="true"]');
  if (row) row.scrollIntoView({ block: "nearest" });
}

/* The address of the function that a word of code names, or null; the one that is open is none. */
function functionNamed(word) {
  const name = word.replace(/^@?"?(lifted_)?/, "").replace(/"$/, "").replace(/@plt$/, "");
  let f = null;
  if (/^0x[0-9a-f]+$/i.test(name)) f = list.byAddress.get("0x" + name.slice(2).toLowerCase().replace(/^0+(?=.)/, ""));
  else if (/^(@"?)?lifted_/.test(word)) f = list.byName.get(name);
  return f && f[ADDRESS] !== list.opened ? f[ADDRESS] : null;
}

/* What is opened first if nobody has said what: the function that was executed most, else main, else the largest. */
function firstFunction() {
  const main = list.byName.get("main");
  if (!list.all.length) return null;
  if (list.executed) return list.all.reduce((a, b) => (b[COST] > a[COST] ? b : a))[ADDRESS];
  return main ? main[ADDRESS] : list.all.reduce((a, b) => (b[SIZE] > a[SIZE] ? b : a))[ADDRESS];
}
