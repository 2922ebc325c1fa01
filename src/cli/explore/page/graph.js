/* graph.js: the control-flow graph as a drawing in layers. Jumps back are turned around for that; each block comes below all that lead to it; an edge that passes layers has a point in each of them; in each
 * layer, what belongs together is brought near to each other in some rounds. */
"use strict";

const CHAR = 6.95, ROW = 17, PAD = 7, GAP_X = 26, GAP_Y = 40, ROUNDS = 8;
const TEXT_BLOCKS_MAX = 250; // of larger graphs, blocks are drawn without their instructions

/* ---------------------------------------------------------------- layers */

/* Marks the edges that lead back to a block that is being visited; without recursion, since graphs are deep. */
function markBack(nodes) {
  const state = new Map();
  for (const root of nodes) {
    if (state.has(root)) continue;
    const stack = [[root, 0]];
    state.set(root, "open");
    while (stack.length) {
      const top = stack[stack.length - 1];
      const edge = top[0].out[top[1]++];
      if (!edge) {
        state.set(top[0], "done");
        stack.pop();
      } else if (state.get(edge.to) === "open") edge.back = true;
      else if (!state.has(edge.to)) {
        state.set(edge.to, "open");
        stack.push([edge.to, 0]);
      }
    }
  }
}

/* The layer of each block: below all that lead to it. */
function rank(nodes, edges) {
  const waits = new Map(nodes.map((n) => [n, 0]));
  const below = new Map(nodes.map((n) => [n, []]));
  for (const e of edges) {
    if (e.from === e.to) continue;
    const [upper, lower] = e.back ? [e.to, e.from] : [e.from, e.to];
    below.get(upper).push(lower);
    waits.set(lower, waits.get(lower) + 1);
  }
  const ready = nodes.filter((n) => !waits.get(n));
  for (const n of nodes) n.layer = 0;
  for (const n of ready) {
    for (const m of below.get(n)) {
      m.layer = Math.max(m.layer, n.layer + 1);
      waits.set(m, waits.get(m) - 1);
      if (!waits.get(m)) ready.push(m);
    }
  }
}

/* Points for edges that pass layers, and who is next to whom. */
function makeLayers(nodes, edges) {
  const layers = [];
  const put = (n) => (layers[n.layer] ||= []).push(n);
  const tie = (upper, lower) => {
    upper.down.push(lower);
    lower.up.push(upper);
  };
  nodes.forEach(put);
  for (const e of edges) {
    e.points = [];
    if (e.from === e.to) continue;
    const [upper, lower] = e.back ? [e.to, e.from] : [e.from, e.to];
    let last = upper;
    for (let layer = upper.layer + 1; layer < lower.layer; layer++) {
      const point = { width: 10, height: 0, layer, up: [], down: [] };
      put(point);
      tie(last, point);
      e.points.push(point);
      last = point;
    }
    tie(last, lower);
  }
  return layers;
}

function middle(values) {
  values.sort((a, b) => a - b);
  const half = values.length >> 1;
  return values.length % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

function orderLayers(layers) {
  const number = (layer) => layer.forEach((n, i) => (n.order = i));
  layers.forEach(number);
  for (let round = 0; round < ROUNDS; round++) {
    const down = round % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      for (const n of layer) {
        const near = down ? n.up : n.down;
        n.wish = near.length ? near.reduce((sum, m) => sum + m.order, 0) / near.length : n.order;
      }
      layer.sort((a, b) => a.wish - b.wish);
      number(layer);
    }
  }
}

/* ---------------------------------------------------------------- places */

/* Puts the nodes of a layer as near to where they wish to be as the room between them allows. */
function spread(layer) {
  const groups = []; // nodes that touch each other, and where the first one is
  for (const n of layer) {
    let group = { nodes: [n], wish: n.wish - n.width / 2, weight: 1, width: n.width };
    while (groups.length) {
      const last = groups[groups.length - 1];
      if (last.wish + last.width + GAP_X <= group.wish) break;
      groups.pop();
      const shifted = group.wish - last.width - GAP_X;
      const weight = last.weight + group.weight;
      group = {
        nodes: [...last.nodes, ...group.nodes],
        wish: (last.wish * last.weight + shifted * group.weight) / weight,
        weight,
        width: last.width + GAP_X + group.width,
      };
    }
    groups.push(group);
  }
  for (const group of groups) {
    let x = group.wish;
    for (const n of group.nodes) {
      n.x = x + n.width / 2;
      x += n.width + GAP_X;
    }
  }
}

function place(layers) {
  let y = 10;
  for (const layer of layers) {
    let x = 0;
    const height = Math.max(...layer.map((n) => n.height));
    for (const n of layer) {
      n.x = x + n.width / 2;
      x += n.width + GAP_X;
      n.y = y;
      n.layerHeight = height;
    }
    y += height + GAP_Y;
  }
  for (let round = 0; round < ROUNDS; round++) {
    const down = round % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      for (const n of layer) {
        const near = down ? n.up : n.down;
        n.wish = near.length ? middle(near.map((m) => m.x)) : n.x;
      }
      spread(layer);
    }
  }
  return y - GAP_Y + 10;
}

/* ---------------------------------------------------------------- drawing */

/* A smooth line down (or up) through points. */
function lineThrough(points) {
  let [x, y] = points[0];
  let path = `M${x.toFixed(1)} ${y.toFixed(1)}`;
  for (const [toX, toY] of points.slice(1)) {
    const half = (y + toY) / 2;
    path += x === toX ? `L${toX.toFixed(1)} ${toY.toFixed(1)}` : `C${x.toFixed(1)} ${half.toFixed(1)} ${toX.toFixed(1)} ${half.toFixed(1)} ${toX.toFixed(1)} ${toY.toFixed(1)}`;
    [x, y] = [toX, toY];
  }
  return path;
}

/* Edges leave and reach a block beside each other, in the order of where they lead. */
function spreadPorts(nodes, edges) {
  for (const n of nodes) {
    const below = edges.filter((e) => e.from !== e.to && (e.back ? e.to : e.from) === n);
    const above = edges.filter((e) => e.from !== e.to && (e.back ? e.from : e.to) === n);
    const next = (e) => (e.points[0] || (e.back ? e.from : e.to)).x;
    const last = (e) => (e.points[e.points.length - 1] || (e.back ? e.to : e.from)).x;
    const setPorts = (list, key, by) => {
      list.sort((a, b) => by(a) - by(b));
      const step = Math.min(22, (n.width - 16) / Math.max(1, list.length));
      list.forEach((e, i) => (e[key] = n.x + (i - (list.length - 1) / 2) * step));
    };
    setPorts(below, "upperX", next);
    setPorts(above, "lowerX", last);
  }
}

function drawEdge(e) {
  if (e.from === e.to) {
    const right = e.from.x + e.from.width / 2, top = e.from.y, bottom = e.from.y + e.from.height;
    const path = `M${right - 8} ${bottom}C${right - 8} ${bottom + 24} ${right + 18} ${bottom + 20} ${right + 18} ${(top + bottom) / 2}C${right + 18} ${top - 20} ${right - 8} ${top - 22} ${right - 8} ${top - 3}`;
    return makeSvg("path", { d: path, class: "back", "marker-end": "url(#arrow-back)" });
  }
  const [upper, lower] = e.back ? [e.to, e.from] : [e.from, e.to];
  const points = [[e.upperX, upper.y + upper.height + (e.back ? 3 : 0)]];
  if (upper.height < upper.layerHeight) points.push([e.upperX, upper.y + upper.layerHeight]);
  for (const p of e.points) points.push([p.x, p.y], [p.x, p.y + p.layerHeight]);
  points.push([e.lowerX, lower.y - (e.back ? 0 : 3)]);
  if (e.back) points.reverse();
  return makeSvg("path", { d: lineThrough(points), class: e.back ? "back" : "", "marker-end": e.back ? "url(#arrow-back)" : "url(#arrow)" });
}

function drawBlock(n) {
  const left = n.x - n.width / 2;
  const kinds = ["block", n.block.exits ? "exits" : "", n.block.unsupported ? "unsupported" : ""].join(" ");
  const g = makeSvg("g", { class: kinds }, makeSvg("rect", { class: "frame", x: left, y: n.y, width: n.width, height: n.height, rx: 5 }));
  g.style.setProperty("--share", n.share);
  const stripe = makeSvg("rect", { class: "stripe", x: left, y: n.y + 3, width: 4, height: n.height - 6 });
  stripe.style.fill = stripeOf(n.number);
  g.append(stripe);
  n.rows.forEach((row, i) => {
    const y = n.y + PAD + i * ROW;
    if (row.from) g.append(makeSvg("rect", { class: "row", "data-from": row.from, x: left + 5, y, width: n.width - 7, height: ROW }));
    const text = makeSvg("text", { x: left + 12, y: y + 12.5, "pointer-events": "none" }, row.text);
    if (!row.from) text.setAttribute("class", "at");
    g.append(text);
  });
  const says = (n.block.table ? "Jump table. " : "") + (n.block.exits ? "May leave the function. " : "") + (n.block.unsupported ? "Ends with an instruction that is not supported." : "");
  if (says) g.append(makeSvg("title", {}, says));
  return g;
}

function makeArrow(id, kind) {
  return makeSvg("marker", { id, class: kind, viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, makeSvg("path", { d: "M0 0L8 4L0 8z" }));
}

function shorten(text) {
  return text.length > 60 ? text.slice(0, 59) + "…" : text;
}

/* The drawing of a function's blocks; `hottest`: how often its instruction that was executed most was; `textOf`: an instruction's text, by its number. */
function drawGraph(blocks, hottest, textOf) {
  const inFull = blocks.length <= TEXT_BLOCKS_MAX;
  const nodes = blocks.map((block, number) => {
    const rows = [{ text: block.at + ":" + (block.exits ? "  ↪" : "") }];
    if (inFull) for (const [from] of block.insns) rows.push({ from, text: shorten(textOf(from)) });
    else rows.push({ from: block.insns[0][0], text: `${block.insns.length} instructions` });
    const times = Math.max(...block.insns.map((i) => i[3]));
    return {
      block, number, rows, out: [], up: [], down: [],
      width: 22 + CHAR * Math.max(...rows.map((r) => r.text.length)),
      height: 2 * PAD + ROW * rows.length,
      share: hottest ? `${Math.round((60 * times) / hottest)}%` : "0%",
    };
  });
  const byAddress = new Map(nodes.map((n) => [n.block.at, n]));
  const edges = nodes.flatMap((from) => [...new Set(from.block.next)].map((at) => ({ from, to: byAddress.get(at) })));
  for (const e of edges) e.from.out.push(e);
  markBack(nodes);
  rank(nodes, edges);
  const layers = makeLayers(nodes, edges);
  orderLayers(layers);
  const height = place(layers);
  spreadPorts(nodes, edges);
  const all = layers.flat();
  const left = Math.min(...all.map((n) => n.x - n.width / 2)) - 12;
  const width = Math.max(...all.map((n) => n.x + n.width / 2)) + 30 - left;
  const svg = makeSvg("svg", { width, height, viewBox: `${left} 0 ${width} ${height}`, role: "img", "aria-label": "Control-flow graph" });
  svg.dataset.entry = nodes[0].x - left; // where the function begins
  svg.append(makeSvg("defs", {}, makeArrow("arrow", ""), makeArrow("arrow-back", "back")));
  svg.append(...edges.map(drawEdge), ...nodes.map(drawBlock));
  return svg;
}
