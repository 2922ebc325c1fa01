#!/usr/bin/env python3
"""examples.py LATHE COUNTED ASKING EXAMPLES SOURCE: the tools of examples/tools tell what follows from the list of all events, which traces.sh compares with the CPU's single steps, or what the program is
known to do."""
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

lathe, counted, asking, examples, source = (os.path.realpath(a) for a in sys.argv[1:6])
failed = False


def fail(text):
    global failed
    failed = True
    print("FAIL:", text)


def watch(tool, *command, tier="quick"):
    native = subprocess.run(command, capture_output=True, text=True)
    done = subprocess.run([lathe, "run", "--tier=" + tier, "--tool=" + tool, "--", *command], capture_output=True, text=True)
    if (done.returncode, done.stdout) != (native.returncode, native.stdout):
        fail(f"{tool}, {command}, tier {tier}: status {done.returncode}: {done.stderr[:500]}")
    return done.stderr


def events():
    """Lines of tracing.c as (kind, words); addresses of the stack are negative."""
    for line in watch(source + "/tracing.c", counted, "0").splitlines():
        kind, *words = line.split()
        yield kind, [-int(w[6:], 16) if w.startswith("stack-") else None if w == "above" else int(w, 16) for w in words]


def histogram(numbers, text):
    """By the number of bits, as the tools print it."""
    bits = Counter(n.bit_length() for n in numbers)
    return [f"{count} {text.format(1 << b)}" for b, count in sorted(bits.items())]


def expected_depths(trace):
    """Before a call the stack pointer is 8 bytes above what the call stores."""
    depths, top, sp = [], None, None
    for kind, words in trace:
        if kind == "S":
            sp = words[1] + 8 if words[1] is not None else None
        if kind == "C":
            top = sp if top is None else max(top, sp)
            depths.append(top - sp)
    return histogram(depths, "calls with less than {} bytes")


def expected_distances(trace):
    distances, stored, now = [], {}, 0
    for kind, words in trace:
        now += kind == "I"
        word = words[1] // 8 if kind in "LS" and words[1] is not None else None
        if kind == "S":
            stored[word] = now
        if kind == "L" and word in stored:
            distances.append(max(now - stored[word], 1))
    return histogram(distances, "loads less than {} instructions behind a store")


def expected_run(trace):
    most, run, end = 0, 0, None
    for kind, words in trace:
        if kind == "K":
            run = run + 1 if words[0] == end else 1
            end = words[0] + words[1]
            most = max(most, run)
    return most


def expect(tool, *command, check):
    """check: says whether the lines of the tool are right. Of a program with libraries, not all code is optimised, which takes long."""
    for tier in ("quick", "opt", "opt") if command[0] == counted else ("quick", "auto"):
        lines = [" ".join(line.split()) for line in watch(f"{examples}/{tool}.c", *command, tier=tier).splitlines()]
        if not check(lines):
            fail(f"{tool}, tier {tier}: {lines}")


with tempfile.TemporaryDirectory() as scratch:
    os.environ["LATHE_CACHE"] = scratch
    os.environ.pop("LATHE_TOOL", None)
    trace = list(events())
    depths, distances, run = expected_depths(trace), expected_distances(trace), expected_run(trace)
    if len(depths) < 3 or len(distances) < 3 or run < 3:
        fail(f"little to compare: {depths}, {distances}, {run}")
    expect("depth", counted, "0", check=lambda lines: lines == depths)
    expect("distance", counted, "0", check=lambda lines: lines == distances)
    expect("straight", counted, "0", check=lambda lines: len(lines) == 1 and re.fullmatch(rf"{run} blocks, from \w+\+0x[0-9a-f]+ on", lines[0]))
    expect("callers", asking, check=lambda lines: {"10 getppid asks", "3 write says"} <= set(lines))
    expect("sizes", asking, check=lambda lines: {"7 of 3333 bytes", "2 of 44444 bytes"} <= set(lines) and lines == sorted(lines, key=lambda t: int(t.split()[2])))
print("failed" if failed else "ok")
sys.exit(failed)
