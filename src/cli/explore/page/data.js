/* data.js: where the page's data comes from: the page itself, if it has it, or the server that it came from. */
"use strict";

const embedded = document.getElementById("data") ? JSON.parse(document.getElementById("data").textContent) : null;

function keyOf(at, target, opt) {
  return `${at} ${target} ${opt}`;
}

async function ask(path, signal) {
  const answer = await fetch(path, { signal });
  const isJson = (answer.headers.get("Content-Type") || "").startsWith("application/json");
  return isJson ? answer.json() : { error: await answer.text() };
}

/* The file: see explore_file() in file.c. */
async function loadFile() {
  return embedded ? embedded.file : ask("file.json");
}

/* Is there anything to show of a function, for some host? */
function isThere(at) {
  return !embedded || Object.keys(embedded.functions).some((key) => key.startsWith(at + " "));
}

/* The hosts and levels that a function can be shown for, as [target, opt]; null: all. */
function choicesOf(at) {
  if (!embedded) return null;
  const keys = Object.keys(embedded.functions).filter((key) => key.startsWith(at + " "));
  return keys.map((key) => key.split(" ").slice(1));
}

/* A function: see explore_function() in function.c. What cannot be shown is an object with `error`. */
async function loadFunction(at, target, opt, signal) {
  if (embedded) return embedded.functions[keyOf(at, target, opt)] || { error: "This page does not have it; 'lathe explore' shows it." };
  return ask(`function.json?at=${at}&target=${encodeURIComponent(target)}&opt=${encodeURIComponent(opt)}`, signal);
}

/* What is remembered from visit to visit; browsers may forbid it. */
function remember(name, value) {
  try {
    localStorage.setItem("lathe-explore-" + name, JSON.stringify(value));
  } catch {
    /* then it is not remembered */
  }
}

function remembered(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem("lathe-explore-" + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}
