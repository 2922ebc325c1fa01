#!/usr/bin/env python3
"""mapping.py LATHE SOURCE [CC PROGRAM]...: which files can be executed, and what their functions are called, is told as it changes."""
import os
import subprocess
import sys
import tempfile

lathe, source = (os.path.abspath(a) for a in sys.argv[1:3])
failed = False

EXPECTED = """\
alpha begins: 8192 bytes at 0, from 0
alpha of alpha is called, from alpha.c
alpha ends: 8192 bytes at 0, from 0
beta begins: 8192 bytes at 0, from 0
beta of beta is called, from beta.c
beta ends: 8192 bytes at 0, from 0
alpha begins: 8192 bytes at 0, from 0
alpha of alpha is called, from alpha.c
alpha ends: 8192 bytes at 0, from 0
alpha begins: 8192 bytes at 0, from 0
alpha ends: 4096 bytes at 4096, from 4096
alpha ends: 4096 bytes at 0, from 0
alpha begins: 8192 bytes at 0, from 0
alpha of alpha is called, from alpha.c
alpha ends: 8192 bytes at 0, from 0
alpha begins: 8192 bytes at 0, from 0
beta of alpha is called, from beta.c
"""


def make(cc, name, number):
    """A file whose function of this name returns a number."""
    with open(name + ".c", "w") as file:
        file.write(f"int {name}(void) {{ return {number}; }}")
    subprocess.run([cc, "-O2", "-g", "-shared", "-nostdlib", "-Wl,-z,noseparate-code,-e," + name, name + ".c", "-o", name],
                   check=True)
    with open(name, "ab") as file:
        file.truncate(max(8192, os.path.getsize(name)))


def check(cc, program, tier):
    global failed
    make(cc, "alpha", 1)
    make(cc, "beta", 2)
    done = subprocess.run([lathe, "run", "--tier=" + tier, f"--tool={source}/mapping.c", "--", program, "alpha", "beta"],
                          capture_output=True, text=True)
    if done.stderr != EXPECTED or done.stdout.split() != ["1", "2", "1", "1", "2"]:
        print(f"FAIL: {program}, tier {tier}: {done.stdout}{done.stderr}")
        failed = True


with tempfile.TemporaryDirectory() as work:
    os.environ["XDG_CACHE_HOME"] = work
    programs = [os.path.abspath(p) if "/" in p else p for p in sys.argv[3:]]
    os.chdir(work)
    for cc, program in zip(programs[::2], programs[1::2]):
        for tier in "quick", "auto":
            check(cc, program, tier)
    os.chdir("/")
sys.exit(failed)
