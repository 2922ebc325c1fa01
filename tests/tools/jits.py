#!/usr/bin/env python3
"""jits.py LATHE SOURCE: programs that make code while they run, with several threads: no two runs execute the same instructions, so those of one run are counted in three ways (thrice.c), which must agree."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

lathe, source = (os.path.realpath(a) for a in sys.argv[1:3])
scripts = os.path.join(source, "..", "run", "scripts")
GUESTS = (["node", scripts + "/work.js"], ["java", "-XX:+UseSerialGC", scripts + "/Work.java"], ["sbcl", "--script", scripts + "/work.lisp"])
failed = False

with tempfile.TemporaryDirectory() as scratch:
    os.environ["LATHE_CACHE"] = scratch
    os.environ.pop("LATHE_TOOL", None)
    guests = [g for g in GUESTS if shutil.which(g[0])]
    for command in guests:
        native = subprocess.run(command, capture_output=True)
        for tier in "quick", "auto", "auto":
            done = subprocess.run([lathe, "run", "--tier=" + tier, f"--tool={source}/thrice.c", "--", *command], capture_output=True)
            numbers = re.findall(r"\b\d+\b", done.stderr.decode().rpartition("instructions:")[2])
            right = (done.returncode, done.stdout) == (native.returncode, native.stdout)
            if not right or len(numbers) != 3 or len(set(numbers)) != 1 or int(numbers[0]) < 1000000:
                failed = True
                print(f"FAIL: {command[0]}, tier {tier}: status {done.returncode}, {numbers} instructions: {done.stdout[:300]}")
            print(command[0], tier, *numbers)
sys.exit(1 if failed else 0 if guests else 77)
