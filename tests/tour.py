#!/usr/bin/env python3
"""tour.py SOURCE BUILD: types what docs/tour.md says, in a folder with the programs of examples/tour, and compares what comes back: each line that the page shows is among those that were printed, in that order;
… in it stands for anything. Status 77: a tool is missing that the tour needs."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("riscv64-linux-gnu-gcc", "gdb-multiarch")
source, build = (os.path.abspath(a) for a in sys.argv[1:3])


def commands():
    """(command, the lines that it shows), block by block."""
    with open(source + "/docs/tour.md", encoding="utf-8") as f:
        for block in re.findall(r"^```\n(.*?)^```", f.read(), re.M | re.S):
            lines = block.splitlines()
            starts = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
            for start, end in zip(starts, starts[1:]):
                yield lines[start][2:], lines[start + 1:end]


def missing(shown, printed):
    """The first line that is shown and was not printed, or None."""
    rest = iter(printed)
    for line in shown:
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))) + r"\s*$")
        if not any(pattern.search(p) for p in rest):
            return line
    return None


def environment(folder):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LATHE_")}
    return dict(kept, PATH=build + ":" + os.environ["PATH"], LC_ALL="C", HOME=folder, LATHE_CACHE=folder + "/cache", DEBUGINFOD_URLS="")


def main():
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    if absent:
        print("skip: the tour needs", *absent)
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="lathe-tour-") as folder:
        shutil.copytree(source + "/examples/tour", folder, dirs_exist_ok=True)
        env = environment(folder)
        for command, shown in commands():
            if command.startswith("export "):
                name, value = command[len("export "):].split("=", 1)
                env[name] = value
                continue
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            line = missing(shown, done.stdout.splitlines())
            if line is not None or done.returncode:
                failed += 1
                print(f"FAIL: $ {command}\n  ends with {done.returncode}", f" and does not print: {line}" if line else "", f"\n{done.stdout[-2000:]}", sep="")
    print("failed" if failed else "ok")
    return failed > 0


sys.exit(main())
