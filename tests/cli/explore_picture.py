#!/usr/bin/env python3
"""explore_picture.py LATHE PROGRAM [FOLDER]: the page of `lathe explore` in Chromium, from its server and as a file, wide and narrow, light and dark: columns with code, red where it was executed often, nothing cut
off; and what mouse and keys do, which a script in a copy of the page tries and reports. Pictures are copied to the folder. Status 77: there is no Chromium."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
from browser import Browser, pixels
from expecting import expect, fail, finish
from explored import Server

lathe, program = (os.path.abspath(a) for a in sys.argv[1:3])
SIZE = (1600, 900)
LATER = "--virtual-time-budget=20000"  # the page's own time, which goes on when nothing is left to do

# Tries the page, and writes what it finds into an element. Each line is "what: what was found".
TRY = """
<script>
{
const found = [];
const note = (what, value) => found.push(what + ": " + value);
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const lines = (column, kind) => document.querySelectorAll(`.pane.${column} .${kind}`).length;
const shown = () => [...document.querySelectorAll(".pane")].filter((p) => !p.hidden).map((p) => p.classList[1]).join(" ");
async function tryAll() {
  while (!document.body.dataset.ready) await new Promise((done) => setTimeout(done, 20));
  note("opened", document.querySelector("#about h2").textContent);
  note("columns", shown());
  // An instruction of the loop of which something is left in all columns.
  const isEverywhere = (l) => ["lifted", "ir", "host"].every((c) => document.querySelector(`.pane.${c} [data-from="${l.dataset.from}"]`));
  const hot = [...document.querySelectorAll(".pane.guest .l")].find((l) => Number(l.style.getPropertyValue("--heat")) > 0.4 && isEverywhere(l));
  hot.querySelector("code").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
  note("lit in guest", lines("guest", "lit"));
  note("lit elsewhere", lines("lifted", "lit") > 0 && lines("ir", "lit") > 0 && lines("host", "lit") > 0);
  hot.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  note("pinned", lines("guest", "pinned") && lines("lifted", "pinned") > 0);
  press("Escape");
  note("let go", document.querySelectorAll(".pinned").length);
  press("j");
  note("first", document.querySelector(".pane.guest .pinned .at").textContent === document.querySelector(".pane.guest .l[data-from] .at").textContent);
  press("1");
  note("with the graph", shown());
  note("blocks", document.querySelectorAll(".graph .block").length === page.made.blocks.length);
  note("loops", document.querySelectorAll(".graph path.back").length);
  press("1");
  note("passes", document.querySelectorAll("#bars button").length > 4);
  press("[");
  note("a pass back", document.querySelector("#pass b").textContent === page.made.steps[page.made.steps.length - 2].pass);
  note("changes", lines("ir", "added") + lines("ir", "removed") > 0);
  for (let i = 0; i < 100; i++) press("[");
  note("the beginning", document.querySelector("#pass b").textContent);
  for (let i = 0; i < 100; i++) press("]");
  note("the end", document.querySelector("#later").disabled);
  press("/");
  note("searching", document.activeElement.id);
  document.activeElement.value = "choo";
  document.activeElement.dispatchEvent(new Event("input", { bubbles: true }));
  note("found", document.querySelector("#functions a span").textContent);
  press("Enter");
  await new Promise((done) => setTimeout(done, 200));
  note("then", document.querySelector("#about h2").textContent + " " + location.hash);
  press("?");
  note("help", document.activeElement.closest("dialog") !== null || document.getElementById("help").open);
  document.getElementById("help").close();
  document.querySelector("#target").value = "riscv64";
  document.querySelector("#target").dispatchEvent(new Event("change"));
  await new Promise((done) => setTimeout(done, 200));
  note("other host", document.querySelector(".pane.host small").textContent);
}
addEventListener("error", (event) => note("error", event.message));
addEventListener("unhandledrejection", (event) => note("error", event.reason));
tryAll().catch((problem) => note("error", problem)).finally(() => document.body.append(make("pre", { id: "tried" }, found.join("\\n"))));
}
</script>
"""
EXPECTED = {
    "opened": "mix", "columns": "guest lifted ir host", "lit in guest": "1", "lit elsewhere": "true", "pinned": "true", "let go": "0", "first": "true",
    "with the graph": "graph guest lifted ir host", "blocks": "true", "loops": "1", "passes": "true", "a pass back": "true", "changes": "true",
    "the beginning": "lifted", "the end": "true", "searching": "search", "found": "choose", "help": "true", "other host": "riscv64",
}


def near(p, colour, distance=24):
    return all(abs(a - b) <= distance for a, b in zip(p, colour))


def is_red(p):
    """The background of code that was executed often, light or dark."""
    return p[0] > p[1] + 40 and p[0] > p[2] + 40 and p[1] > 20


def check_picture(what, path, size, back):
    if not path:
        fail(f"{what}: there is no picture")
        return
    lines = pixels(path)
    expect(f"{what}: size", (len(lines[0]), len(lines)), size)
    all_points = size[0] * size[1]
    empty = sum(near(p, back, 8) for line in lines for p in line)
    red = sum(sum(map(is_red, line)) > size[0] // 8 for line in lines)
    if not all_points // 4 < empty < all_points * 97 // 100 or red < 50:
        fail(f"{what}: {100 * empty // all_points}% are empty, and {red} lines red")
    text = [y for y, line in enumerate(lines) if any(not near(p, back, 120) for p in line)]
    if not text or text[0] > 40:
        fail(f"{what}: there is no text at the top")
    # Nothing scrolls out at the right: the head of the page ends before the edge.
    if any(not near(p, line[-1], 40) for line in lines[:60] for p in line[-4:]):
        fail(f"{what}: something is cut off at the right")


def keep(path, name):
    if path and len(sys.argv) > 3:
        shutil.copy(path, os.path.join(sys.argv[3], name + ".png"))


def try_page(browser, page, folder):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    tried = folder + "/tried.html"
    with open(tried, "w", encoding="utf-8") as f:
        f.write(text.replace("</body>", TRY + "</body>"))
    found = re.search(r'<pre id="tried">(.*?)</pre>', browser.elements("file://" + tried, "--window-size=1600,900", LATER), re.S)
    if not found:
        fail("the page has not come to its end")
        return
    said = dict(line.split(": ", 1) for line in found[1].splitlines())
    for what, value in EXPECTED.items():
        expect(what, said.get(what), value)
    if not said.get("then", "").startswith("choose #0x"):
        fail(f"the search has opened {said.get('then')}")
    if "error" in said:
        fail(said["error"])


with tempfile.TemporaryDirectory(prefix="lathe-explore-") as folder:
    browser = Browser(folder)
    if not browser.found:
        sys.exit(77)
    hot, page = folder + "/hot.data", folder + "/page.html"
    subprocess.run([lathe, "run", "--tool=hot,data=" + hot, "--", program, "100"], stdout=subprocess.DEVNULL, check=False)
    subprocess.run([lathe, "explore", "--hot=" + hot, "--html=" + page, "--function=mix", "--function=choose", "--target=x86_64", "--target=riscv64", program], check=True)
    try_page(browser, page, folder)
    for name, size, options, back in (("wide", SIZE, (), (255, 255, 255)), ("narrow", (480, 900), (), (255, 255, 255)), ("dark", (1400, 900), ("--blink-settings=preferredColorScheme=0",), (21, 24, 29))):
        picture = browser.picture("file://" + page, *size, LATER, *options)
        check_picture(name, picture, size, back)
        keep(picture, name)
    picture = browser.picture("file://" + page + "#/graph,guest,ir,host", *SIZE, LATER)
    check_picture("graph", picture, SIZE, (255, 255, 255))
    keep(picture, "graph")
    with Server(lathe, "explore", "--hot=" + hot, program) as server:
        served = browser.elements(server.address, LATER)
        for what in ('<h2>mix</h2>', 'data-from="1"', 'class="pane host"', "executed"):
            if what not in served:
                fail(f"the page that is served lacks {what}")
finish()
