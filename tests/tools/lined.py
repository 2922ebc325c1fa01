#!/usr/bin/env python3
"""lined.py LATHE COVERED SOURCE: what the tools coverage and hot say about lines and functions: the counts of lines are those of gcov, lcov and genhtml read them, and the page
of hot has the functions and loops of the program, with numbers that add up."""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from expecting import expect, fail, finish

lathe, covered, here = (os.path.abspath(a) for a in sys.argv[1:4])
source = here + "/covered.c"


def watch(tool, *command, tier="auto"):
    return subprocess.run([lathe, "run", "--tier=" + tier, "--tool=" + tool, "--", *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr


# ----------------------------------------------------------------------------------------------------------------- lcov


def gcov_counts(count):
    """The counts of lines and functions by gcov, of the same source, compiled for it and run by itself."""
    subprocess.run(["gcc", "-O0", "--coverage", source, "-o", "counting"], check=True)
    subprocess.run(["./counting", count], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run(["gcov", "-t", "counting-covered.gcda"], check=True, capture_output=True, text=True).stdout
    lines = {}
    for executed, line in re.findall(r"^ *([0-9#]+)\*?: *(\d+):", text, re.M):
        lines[int(line)] = 0 if "#" in executed else int(executed)
    return lines


def lcov_counts(name):
    """The counts of the source's lines and functions in a tracefile."""
    record = re.search(rf"SF:{re.escape(source)}\n(.*?)end_of_record", open(name).read(), re.S)
    if not record:
        fail("the tracefile does not have the source: " + open(name).read()[:300])
        return {}, {}
    lines = {int(a): int(b) for a, b in re.findall(r"DA:(\d+),(\d+)", record[1])}
    functions = {b: int(a) for a, b in re.findall(r"FNDA:(\d+),(\w+)", record[1])}
    return lines, functions


def check_lcov():
    expected = gcov_counts("90")
    labels = {n + 1 for n, line in enumerate(open(source)) if re.search("case|default", line)}
    for tier in "quick", "opt", "auto":
        watch("coverage,lcov,out=trace", covered, "90", tier=tier)
        lines, functions = lcov_counts("trace")
        both = lines.keys() & expected.keys()
        expect(f"lines, tier {tier}", {k: lines[k] for k in both}, {k: expected[k] for k in both})
        expect(f"lines without code, tier {tier}", expected.keys() - both <= labels, True)
        expect(f"functions, tier {tier}", functions,
               {"never_called": 0, "classify": 110, "fib": 465, "inner": 1, "main": 1})
    if not shutil.which("lcov"):
        fail("lcov is missing")
        return
    text = subprocess.run(["lcov", "--summary", "trace"], capture_output=True, text=True)
    expect("lcov --summary", text.returncode, 0)
    expect("lcov --summary", "80.0% (4 of 5 functions)" in text.stdout + text.stderr, True)
    text = subprocess.run(["genhtml", "-o", "pages", "trace"], capture_output=True, text=True)
    expect("genhtml " + text.stderr, text.returncode, 0)
    expect("genhtml: pages", os.path.exists("pages/index.html"), True)


# ------------------------------------------------------------------------------------------------------------------ hot


class Page(html.parser.HTMLParser):
    """The rows of all tables, as lists of the texts of cells, and the open elements at the end."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.open, self.problem, self.links, self.ids = [], [], None, set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.add(attrs["id"])
        if tag == "a":
            self.links.add(attrs["href"].lstrip("#"))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in ("meta", "th"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problem = self.problem or f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data.strip("\n")


def number(text):
    return int(text.replace("\u202f", ""))


def check_hot():
    total = int(watch("inscount", covered, "90").split()[0])
    watch("hot,top=100000,out=page.html", covered, "90")
    page = Page(open("page.html").read())
    expect("hot: HTML", (page.problem, page.open), (None, []))
    expect("hot: links that lead nowhere", page.links - page.ids, set())
    functions = {row[3]: number(row[2]) for row in page.tables[0][1:] if row[4] == "covered"}
    costs = [number(row[2]) for row in page.tables[0][1:]]
    expect("hot: the sum of functions", sum(costs), total)
    expect("hot: order", costs, sorted(costs, reverse=True))
    if functions["inner"] < max(functions["fib"], functions["classify"]) or "never_called" in functions:
        fail(f"hot: {functions}")
    passes = sorted(number(row[3]) for row in page.tables[1][1:] if row[4] == "inner")
    expect("hot: passes of the loop within a loop", 20 * 90 in passes or 20 * 91 in passes, True)
    code = [row for table in page.tables[2:] for row in table]
    expect("hot: source", any("sum += i * k;" in row[3] for row in code), True)
    expect("hot: instructions", any(re.match(r"(mov|add|imul) \w+, ", row[3]) for row in code), True)
    return functions


os.environ.pop("LATHE_TOOL", None)
with tempfile.TemporaryDirectory() as work:
    os.environ["LATHE_CACHE"] = work + "/cache"
    os.mkdir(work + "/out")
    os.chdir(work + "/out")
    check_lcov()
    check_hot()
    os.chdir("/")
finish()
