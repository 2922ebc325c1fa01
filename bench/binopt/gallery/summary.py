#!/usr/bin/env python3
"""summary.py PROGRAM…: runs the gallery by each of its builds, one after the other, and says where rewriters made code that is slower.

Each program prints a line for each kernel: its name, the original's time, and the rewriters' relative to it. Fails if a result was wrong.
"""
import math
import os
import subprocess
import sys

SLOWER = 1.05
NAME_COLUMNS = 24


def rows_of(program):
    """(kernel, rewriter -> ratio) for each line; the lines are shown as they come."""
    build = os.path.basename(program).removeprefix("gallery-")
    print(f"== {build}", flush=True)
    process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
    rewriters = None
    rows = []
    for line in process.stdout:
        print(line, end="", flush=True)
        words = line[NAME_COLUMNS:].split()
        if rewriters is None:
            rewriters = words[1:]
        else:
            ratios = [float(w.rstrip("=")) for w in words[1 : 1 + len(rewriters)]]
            rows.append((f"{line[:NAME_COLUMNS].rstrip()}, {build}", dict(zip(rewriters, ratios))))
    return rows, process.wait()


def summarise(rows, rewriter):
    ratios = sorted(((r[rewriter], name) for name, r in rows), reverse=True)
    mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
    slower = [(r, name) for r, name in ratios if r > SLOWER]
    print(f"{rewriter:9} {mean:6.3f} {ratios[0][0]:6.2f} {len(slower):4} of {len(ratios)}")
    return [f"  {rewriter:9} {r:6.2f}  {name}" for r, name in slower]


def main():
    rows, failed = [], 0
    for program in sys.argv[1:]:
        more, status = rows_of(program)
        rows += more
        failed |= status
    print(f"\n{'':9} {'mean':>6} {'worst':>6} slower than {SLOWER}")
    slower = [line for rewriter in rows[0][1] for line in summarise(rows, rewriter)]
    print("\n".join(slower))
    behind = [(r["llvm"] / r["trace"], name, r) for name, r in rows if r["llvm"] > r["trace"] * SLOWER]
    print(f"llvm slower than trace: {len(behind)} of {len(rows)}")
    for by, name, r in sorted(behind, reverse=True):
        print(f"  {by:6.2f}  {name}: {r['llvm']:.2f}, {r['trace']:.2f}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
