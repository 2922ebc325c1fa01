#!/usr/bin/env python3
"""stacks.py LATHE SOURCE PROGRAM...: the call stacks that a tool finds in a program (nested.c) are those of its source. Whatever is in .eh_frame, the tool goes on."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

lathe, source, *programs = (os.path.abspath(a) for a in sys.argv[1:])
failed = False

# The callers of leaf(), in the order of main; * stands for functions of the C library, any number of them.
EXPECTED = """
leaf whole main
leaf whole main
leaf whole main
leaf third second first main
leaf third second varying main
leaf third callback inside through_library main
leaf third compare * sort main
leaf third on_signal * interrupted main
leaf third on_signal * interrupted main
leaf third on_fault faulting main
""".split("\n")[1:-1]
DEEP = ["leaf"] + ["recursive"] * 63  # no more than the tool has room for


def fail(text):
    global failed
    print("FAIL:", text)
    failed = True


def without_library(names):
    """All but the functions of the program, which are known by their names."""
    ours = {name for line in EXPECTED for name in line.split()} | {"recursive"}
    return [name for name in names if name in ours]


def check(program, tier):
    tool = source + "/stacks.c" + (",pointers" if "pointers" in program else "")
    done = subprocess.run([lathe, "run", "--tier=" + tier, "--tool=" + tool, "--", program],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = [line.split() for line in done.stderr.splitlines()]
    if done.returncode or len(lines) != len(EXPECTED) + 1:
        fail(f"{program}, tier {tier}: status {done.returncode}: {done.stderr}")
        return
    for got, expected in zip(lines, EXPECTED):
        names = expected.split()
        if without_library(got) != [n for n in names if n != "*"] or ("*" not in names and len(got) != len(names)):
            fail(f"{program}, tier {tier}: {' '.join(got)} instead of {expected}")
    if lines[-1] != DEEP:
        fail(f"{program}, tier {tier}: {lines[-1]}")


def damage(program, copy, seed):
    """Changes some bytes of .eh_frame."""
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True).stdout
    offset, size = (int(n, 16) for n in re.search(r" \.eh_frame +\S+ +\S+ (\S+) (\S+)", sections).groups())
    shutil.copy(program, copy)
    chance = random.Random(seed)
    with open(copy, "r+b") as file:
        for _ in range(size // (4 << seed)):
            file.seek(offset + chance.randrange(size))
            file.write(bytes([chance.randrange(256)]))


def check_damaged(program, copy, seed):
    damage(program, copy, seed)
    done = subprocess.run([lathe, "run", f"--tool={source}/stacks.c,pointers", "--", copy], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode or len(done.stderr.splitlines()) != len(EXPECTED) + 1:
        fail(f"{program}, damaged by {seed}: status {done.returncode}: {done.stderr}")


for p in programs:
    for t in "quick", "auto":
        check(p, t)
with tempfile.TemporaryDirectory() as work:
    for p in programs:
        for seed in range(5) if "pointers" not in p else []:
            check_damaged(p, work + "/damaged", seed)
sys.exit(failed)
