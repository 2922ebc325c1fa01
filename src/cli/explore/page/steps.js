/* steps.js: what each pass has made of the function. */
"use strict";

const EDITS_MAX = 4000; // two texts that differ more are shown as removed and added as a whole

const steps = { made: null, at: 0, texts: null };

/* Texts of lines are compared by numbers: the same text has the same one. */
function numberTexts(texts) {
  const numbers = new Map();
  return texts.map((text) => {
    const plain = text.replace(/, !.*$/, "");
    if (!numbers.has(plain)) numbers.set(plain, numbers.size);
    return numbers.get(plain);
  });
}

function startSteps(made) {
  Object.assign(steps, { made, texts: numberTexts(made.ir.text), at: made.steps.length - 1 });
  const bars = document.getElementById("bars");
  const most = Math.max(...made.steps.map((s) => s.lines.length));
  bars.replaceChildren(
    ...made.steps.map((s, i) => {
      const bar = make("i");
      bar.style.height = `${Math.max(6, (100 * s.lines.length) / most)}%`;
      const button = make("button", { title: titleOfStep(i), "aria-label": titleOfStep(i), tabindex: "-1" }, bar);
      button.addEventListener("click", () => showStep(i));
      return button;
    }),
  );
  document.getElementById("passes").hidden = made.steps.length < 2;
  markStep();
}

function titleOfStep(i) {
  return i ? `after ${steps.made.steps[i].pass}` : "as lifted";
}

/* How many lines a pass has added and removed, wherever they are. */
function changesOf(i) {
  const counts = new Map();
  for (const line of steps.made.steps[i].lines) counts.set(steps.texts[line], (counts.get(steps.texts[line]) || 0) + 1);
  for (const line of steps.made.steps[i - 1].lines) counts.set(steps.texts[line], (counts.get(steps.texts[line]) || 0) - 1);
  const values = [...counts.values()];
  const sum = (sign) => values.reduce((all, n) => all + Math.max(0, sign * n), 0);
  return `+${sum(1)} −${sum(-1)} lines`;
}

function isLast() {
  return steps.at === steps.made.steps.length - 1;
}

function markStep() {
  const { made, at } = steps;
  document.querySelectorAll("#bars button").forEach((b, i) => b.setAttribute("aria-pressed", i === at));
  document.getElementById("earlier").disabled = !at;
  document.getElementById("later").disabled = isLast();
  const left = made.left_out ? `; ${made.left_out} passes are left out, since the function is long` : "";
  const passed = made.each_pass ? ` ${at} of ${made.steps.length - 1} passes that changed it: ` : " by all passes: ";
  const text = at ? passed + changesOf(at) + left : " before any pass";
  document.getElementById("pass").replaceChildren(make("b", {}, at ? made.steps[at].pass : "lifted"), text);
  const ir = column("ir");
  ir.head.textContent = isLast() ? "Optimised" : at ? "After a pass" : "Lifted";
  ir.hintElement.textContent = `${titleOfStep(at)}, ${made.steps[at].lines.length} lines`;
}

function showStep(i) {
  if (!steps.made || i < 0 || i >= steps.made.steps.length) return;
  steps.at = i;
  markStep();
  redraw("ir");
}

/* The lines of the step that is shown; on the way, with what its pass has removed and added. */
function drawStep() {
  const { made, at, texts } = steps;
  const now = made.steps[at].lines;
  const show = (line, kind) => makeLine(made.ir.text[line], kind === "removed" ? 0 : made.ir.from[line], irWords, kind);
  if (!at || isLast()) return [make("div", { class: "lines" }, ...now.map((line) => show(line, "")))];
  const rows = compare(made.steps[at - 1].lines, now, texts).map(([line, kind]) => show(line, kind));
  const first = rows.find((row) => row.matches(".added, .removed"));
  if (first) requestAnimationFrame(() => bringIntoView(column("ir").body, first));
  return [make("div", { class: "lines" }, ...rows)];
}

/* ---------------------------------------------------------------- what differs */

/* [line, "added" | "removed" | ""] of both texts, in order. */
function compare(before, now, texts) {
  const same = (i, j) => texts[before[i]] === texts[now[j]];
  let head = 0, tail = 0;
  while (head < before.length && head < now.length && same(head, head)) head++;
  while (tail < before.length - head && tail < now.length - head && same(before.length - 1 - tail, now.length - 1 - tail)) tail++;
  const a = before.slice(head, before.length - tail), b = now.slice(head, now.length - tail);
  const plain = (line) => [line, ""];
  return [...now.slice(0, head).map(plain), ...edits(a, b, texts), ...now.slice(now.length - tail).map(plain)];
}

/* The shortest way from a to b (Myers): from each diagonal, as far as possible with d edits; then back along it. */
function edits(a, b, texts) {
  const max = Math.min(a.length + b.length, EDITS_MAX);
  const trace = [];
  let reach = new Map([[1, 0]]);
  for (let d = 0; d <= max; d++) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? reach.get(k + 1) : reach.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && texts[a[x]] === texts[b[x - k]]) x++;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return wayBack(trace, a, b);
    }
    if (trace.length * trace.length > 4e6) break; // too long a way to keep
  }
  return [...a.map((line) => [line, "removed"]), ...b.map((line) => [line, "added"])];
}

function wayBack(trace, a, b) {
  const rows = [];
  let x = a.length, y = b.length;
  for (let d = trace.length - 1; x > 0 || y > 0; d--) {
    const reach = trace[d], k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = d ? reach.get(fromK) : 0, fromY = d ? fromX - fromK : 0;
    while (x > fromX && y > fromY) {
      rows.push([b[y - 1], ""]);
      x--;
      y--;
    }
    if (!d) break;
    if (down) rows.push([b[--y], "added"]);
    else rows.push([a[--x], "removed"]);
  }
  return rows.reverse();
}
