/* explore.js: the page as a whole: what is open, and the keys. */
"use strict";

const page = { file: null, made: null, at: null, asking: null, insns: new Map() };

function show(id) {
  return document.getElementById(id);
}

/* ---------------------------------------------------------------- a function */

function say(text, isBusy = false) {
  show("message").textContent = text;
  show("message").classList.toggle("busy", isBusy);
}

function readBlocks(made) {
  page.insns = new Map();
  made.blocks.forEach((block, number) => {
    for (const [from, at, text, times, gap, leaves] of block.insns) page.insns.set(from, { from, at, text: text.replace(/0x0+(?=[0-9A-F])/gi, "0x"), times, gap, leaves, block: number });
  });
  page.order = [...page.insns.values()].sort((a, b) => (BigInt(a.at) < BigInt(b.at) ? -1 : 1));
  page.hottest = page.order.reduce((most, i) => Math.max(most, i.times), 0);
  panes.heat = (from) => (page.hottest && page.insns.has(from) ? page.insns.get(from).times / page.hottest : 0);
  panes.stripe = (from) => (page.insns.has(from) ? stripeOf(page.insns.get(from).block) : "transparent");
}

function drawGuest() {
  let last = null;
  const rows = page.order.flatMap((i) => {
    const line = makeLine(i.text, i.from, asmWords);
    line.prepend(make("span", { class: "at" }, i.at.slice(2)));
    if (page.hottest) line.prepend(make("span", { class: "times", title: `executed ${grouped(i.times)} times` }, i.times ? brief(i.times) : ""));
    if (i.gap) {
      line.classList.add(i.leaves ? "leaves" : "deviates");
      line.dataset.gap = i.gap;
      line.title = sayGap(i);
    }
    const begins = i.block !== last;
    last = i.block;
    return begins ? [make("div", { class: "l label" }, make("code", {}, page.made.blocks[i.block].at + ":")), line] : [line];
  });
  return [make("div", { class: "lines" }, ...rows)];
}

function drawLifted() {
  const { ir, steps: all } = page.made;
  const lines = all[0].lines;
  return [makeLines(lines.map((l) => ir.text[l]), lines.map((l) => ir.from[l]), irWords)];
}

function drawHost() {
  return [makeLines(page.made.host.text.map((t) => t.replace(/^\t/, "    ").replace(/\t/g, "  ")), page.made.host.from, asmWords)];
}

function drawControlFlow() {
  const svg = drawGraph(page.made.blocks, page.hottest, (from) => page.insns.get(from).text);
  const width = Number(svg.getAttribute("width")), height = Number(svg.getAttribute("height"));
  let scale = 1;
  const zoom = (by) => {
    scale = by ? Math.min(3, Math.max(0.1, scale * by)) : Math.min(1, (column("graph").body.clientWidth - 12) / width);
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
  };
  const button = (text, title, by) => {
    const b = make("button", { title, "aria-label": title }, text);
    b.addEventListener("click", () => zoom(by));
    return b;
  };
  requestAnimationFrame(() => {
    const body = column("graph").body, fits = (body.clientWidth - 12) / width;
    if (fits < 1) zoom(Math.max(fits, 0.6));
    body.scrollLeft = svg.dataset.entry * scale - body.clientWidth / 2;
  });
  return [make("div", { class: "zoom" }, button("−", "Smaller", 1 / 1.25), button("+", "Larger", 1.25), button("Fit", "As wide as the column", 0)), svg];
}

function sayGap(i) {
  return i.leaves ? `${i.gap}: the function leaves here, with a trap` : `May differ from a CPU: ${i.gap}`;
}

/* A button that leads from one gap to the next. */
function makeWarning(gaps, text, kind) {
  const button = make("button", { class: kind, title: `${sayGap(gaps[0])} (n: the next one)` }, text);
  button.addEventListener("click", () => nextGap(gaps));
  return button;
}

function showAbout(made) {
  const leaving = page.order.filter((i) => i.leaves), deviating = page.order.filter((i) => i.gap && !i.leaves);
  const parts = [make("h2", {}, made.name), make("span", {}, made.at)];
  const counted = (n, what) => parts.push(make("span", {}, `${grouped(n)} ${what}${n === 1 ? "" : "s"}`));
  counted(made.guest_instructions, "instruction");
  counted(made.guest_blocks, "block");
  parts.push(make("span", {}, `${grouped(made.ir_lifted)} → ${grouped(made.ir_final)} IR instructions`));
  parts.push(make("span", {}, `${grouped(made.guest_bytes)} → ${grouped(made.host_bytes)} bytes of code`));
  const f = list.byAddress.get(made.at);
  if (f && f[COST]) parts.push(make("span", {}, `${percent(f[COST], list.executed)} of what was executed`));
  if (leaving.length) parts.push(makeWarning(leaving, `⚠ ${grouped(leaving.length)} not supported`, "warning"));
  if (deviating.length) parts.push(makeWarning(deviating, `≈ ${grouped(deviating.length)} may differ from a CPU`, "note"));
  show("about").replaceChildren(...parts);
  say(made.problem ? `Lifted in part: ${made.problem}` : "");
}

function showFunction(made) {
  page.made = made;
  readBlocks(made);
  showAbout(made);
  column("guest").hintElement.textContent = page.file.arch;
  column("host").hintElement.textContent = targetTitle(made.target);
  column("lifted").hintElement.textContent = `LLVM-IR, ${made.steps[0].lines.length} lines`;
  startSteps(made);
  resetColumns({ graph: drawControlFlow, guest: drawGuest, lifted: drawLifted, ir: drawStep, host: drawHost });
}

function showNothing(why) {
  page.made = steps.made = null;
  show("passes").hidden = true;
  const f = list.byAddress.get(page.at);
  show("about").replaceChildren(make("h2", {}, f ? titleOf(f) : page.at || ""));
  resetColumns({});
  say(why);
}

/* In a page without a server, only some hosts and levels are there. */
function offerChoices(at) {
  const there = choicesOf(at);
  if (!there || !there.length) return;
  if (!there.some(([target, opt]) => target === show("target").value && opt === show("opt").value)) [show("target").value, show("opt").value] = there[0];
  for (const [id, i] of [["target", 0], ["opt", 1]]) for (const option of show(id).options) option.disabled = !there.some((choice) => choice[i] === option.value);
}

async function openFunction(at) {
  page.at = at;
  showOpened(at);
  if (location.hash.split("/")[0] !== "#" + at) history.pushState(null, "", "#" + at);
  const f = list.byAddress.get(at);
  document.title = `${f ? titleOf(f) : at} – ${page.file.file.split("/").pop()}`;
  offerChoices(at);
  if (page.asking) page.asking.abort();
  const asking = (page.asking = new AbortController());
  const late = setTimeout(() => say("Lifting, optimising and compiling …", true), 150);
  try {
    const made = await loadFunction(at, show("target").value, show("opt").value, asking.signal);
    if (asking !== page.asking) return;
    if (made.error) showNothing(made.error);
    else showFunction(made);
    if (NARROW.matches) fold(true);
  } catch (problem) {
    // A browser passes only so many lines to one call.
    if (problem instanceof RangeError) showNothing("This function is too large to be shown.");
    else if (problem.name !== "AbortError") showNothing("The server does not answer: has 'lathe explore' ended?");
  } finally {
    clearTimeout(late);
    document.body.dataset.ready = at; // for those who wait for the page
  }
}

/* ---------------------------------------------------------------- moving */

function moveBy(step) {
  if (!page.made) return;
  const now = page.order.findIndex((i) => i.from === panes.pinned);
  const next = now < 0 ? (step > 0 ? 0 : page.order.length - 1) : Math.min(page.order.length - 1, Math.max(0, now + step));
  pin(page.order[next].from, null);
}

function nextGap(gaps) {
  const now = page.order.findIndex((i) => i.from === panes.pinned);
  const behind = [...page.order.slice(now + 1), ...page.order].find((i) => gaps.includes(i));
  if (behind) pin(behind.from, null);
}

function fold(on) {
  document.body.classList.toggle("folded", on);
  show("menu").setAttribute("aria-expanded", !on);
}

const keys = {
  "/": () => {
    fold(false);
    show("search").focus();
    show("search").select();
  },
  j: () => moveBy(1),
  k: () => moveBy(-1),
  n: () => page.made && nextGap(page.order.filter((i) => i.gap)),
  "[": () => showStep(steps.at - 1),
  "]": () => showStep(steps.at + 1),
  m: () => document.body.classList.toggle("meta-shown"),
  f: () => fold(!document.body.classList.contains("folded")),
  "?": () => show("help").showModal(),
  Escape: () => {
    pin(0, null);
    document.activeElement.blur();
  },
};

function takeKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || show("help").open) return;
  if (event.target.matches("input, select") && event.key !== "Escape") return;
  const number = Number(event.key);
  const act = number >= 1 && number <= columns.length ? () => toggleColumn(columns[number - 1].id) : keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/* ---------------------------------------------------------------- the beginning */

function targetTitle(name) {
  return name === "own" ? `this machine (${page.file.own})` : name;
}

function showFile(file) {
  page.file = file;
  show("file").append(file.file.split("/").pop(), make("small", {}, file.arch));
  show("file").title = file.file;
  show("target").append(...file.targets.map((t) => make("option", { value: t }, targetTitle(t))));
  show("opt").append(...file.opts.map((o) => make("option", { value: o }, o)));
  show("target").value = file.target;
  show("opt").value = file.opt;
  if (!file.stats) return;
  const rows = Object.entries(file.stats).filter(([, value]) => value);
  show("run").hidden = false;
  show("run").querySelector("table").append(...rows.map(([name, value]) => make("tr", {}, make("td", {}, name.replace(/_/g, " ")), make("td", {}, grouped(value)))));
}

/* The address behind '#', which columns may follow: #0x1000/graph,host. */
function wanted() {
  const [at, names] = location.hash.slice(1).split("/");
  if (names) chooseColumns(names.split(","));
  return /^0x[0-9a-f]+$/.test(at) ? at : null;
}

async function start() {
  startPanes();
  fold(NARROW.matches);
  let file;
  try {
    file = await loadFile();
  } catch {
    file = { error: "The server does not answer." };
  }
  if (file.error) {
    say(file.error);
    return;
  }
  showFile(file);
  startList(file, openFunction);
  for (const id of ["target", "opt"]) show(id).addEventListener("change", () => page.at && openFunction(page.at));
  show("earlier").addEventListener("click", () => showStep(steps.at - 1));
  show("later").addEventListener("click", () => showStep(steps.at + 1));
  show("menu").addEventListener("click", keys.f);
  show("help-button").addEventListener("click", keys["?"]);
  document.addEventListener("keydown", takeKey);
  addEventListener("popstate", () => wanted() && wanted() !== page.at && openFunction(wanted()));
  const first = wanted() || (file.at !== "0x0" ? file.at : firstFunction());
  if (first) openFunction(first);
  else say("There is no function to show.");
}

start();
