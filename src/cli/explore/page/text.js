/* text.js: small things: elements, numbers, and code with colours. */
"use strict";

/* make("a", {class: "to", title: "x"}, child, "text") */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function makeSvg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/* 1234567 becomes 1.2M. */
function brief(number) {
  const units = ["", "k", "M", "G", "T", "P"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit++;
  }
  return (unit && number < 10 ? number.toFixed(1) : Math.floor(number)) + units[unit];
}

function percent(part, whole) {
  const share = whole ? (100 * part) / whole : 0;
  return share.toFixed(share < 10 ? 1 : 0) + "%";
}

/* A colour for each block, so that neighbours differ. */
function stripeOf(block) {
  return `hsl(${(block * 137.5) % 360} var(--strength) 55%)`;
}

/* Words of code: each rule is [expression, class]; the first that matches counts. */
const asmWords = [
  [/\s+(?:#|\/\/)\s.*/y, "s"],
  [/0x[0-9A-Fa-f]+|\b\d+\b/y, "n"],
  [/[A-Za-z_.$][\w.$]*/y, ""],
];
const irWords = [
  [/%[\w.$-]+|%"[^"]*"/y, "v"],
  [/@[\w.$-]+|@"[^"]*"/y, "g"],
  [/, !.*$/y, "meta"],
  [/\b(?:ptr|void|float|double|x86_fp80|label|i\d+)\b/y, "s"],
  [/\b\d[\w.+]*\b/y, "n"],
  [/[A-Za-z_.][\w.]*/y, ""],
];

/* Puts code into an element. `link(word)` gives the address of the function that a word names, or null; opening it is for whoever listens to clicks. */
function paint(element, text, words, link) {
  let at = 0;
  let isFirst = true;
  while (at < text.length) {
    const [size, kind] = wordAt(text, at, words);
    const word = text.slice(at, at + size);
    const isWord = /^[A-Za-z]/.test(word);
    const to = kind !== "meta" && size > 1 ? link(word) : null;
    if (to) element.append(make("a", { class: "to", "data-open": to, title: "Open this function" }, nameOf(to, word)));
    else if (kind || (isFirst && isWord)) element.append(make("span", { class: kind || "w" }, word));
    else element.append(word);
    if (isWord && !/^(lock|repn?[ez]?|bnd|notrack)$/.test(word)) isFirst = false;
    at += size;
  }
}

/* An address with the name of the function that is there. */
function nameOf(at, word) {
  const f = list.byAddress.get(at);
  return word.startsWith("0x") && f[NAME] ? `${word} <${titleOf(f)}>` : word;
}

function wordAt(text, at, words) {
  for (const [expression, kind] of words) {
    expression.lastIndex = at;
    const found = expression.exec(text);
    if (found) return [found[0].length, kind];
  }
  return [1, ""];
}
