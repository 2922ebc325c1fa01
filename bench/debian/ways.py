"""ways.py: Debian's programs, run in several ways, native first, as a table of ratios: what bench-debian and bench-tools share."""
import os

import work
from measuring import DEBIAN_PATH, Run, geomean

WARMING_RUNS = 3
FOLDERS = ("usr/bin", "bin", "usr/libexec/gcc/x86_64-linux-gnu/14", "usr/libexec/gcc/riscv64-linux-gnu/14", "usr/lib/gcc/x86_64-linux-gnu/12")


def find(name, root):
    """The program's file under a root; None: it is not there."""
    for folder in FOLDERS:
        path = os.path.join(root, folder, name)
        if os.path.exists(path):
            return os.path.realpath(path) if root == "/" else path
    return None


def is_static(path):
    """True if no dynamic linker is named in the file's first page."""
    with open(path, "rb") as f:
        return b"/ld-linux" not in f.read(4096)


class Way:
    """One way to run a program: a name for the table's head, what comes in front of the program, and its root."""

    def __init__(self, name, prefix, root, loader=()):
        self.name, self.prefix, self.root, self.loader = name, prefix, root, list(loader)

    def command(self, program):
        path = find(program[0], self.root)
        return path and self.prefix + ([] if is_static(path) else self.loader) + [path] + program[1:]


def native_way(options):
    if options.native == "/":
        return Way("native", [], "/")
    loader = os.path.join(options.native, "lib64/ld-linux-x86-64.so.2")
    libraries = ":".join(os.path.join(options.native, d) for d in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"))
    return Way("native", [], options.native, [loader, "--library-path", libraries])


def measure(commands, env, runs, warming, right):
    """The least CPU seconds of each, and whether all results were the same: those of the first command, unless it is said what is right of the others."""
    least, same, first = [float("inf")] * len(commands), True, None
    for turn in range(warming + runs):
        for i, command in enumerate(commands):
            if turn < warming and i == 0 and turn:
                continue
            run = Run(command, env)
            first = first or run
            same &= run.same_as(right if right and i else first)
            if turn >= warming:
                least[i] = min(least[i], run.cpu)
    return least, same


def environment(folder):
    return {"PATH": DEBIAN_PATH, "HOME": folder, "LANG": "C.UTF-8", "XDG_CACHE_HOME": os.path.join(folder, "cache")}


def is_wanted(options, name):
    return not options.only or name in options.only.split(",")


def debian_rows(options, ways, folder, usual=()):
    """Name, a command for each way, and what is right (None: what the first one does); of the usual programs, if there are some and no others are asked for."""
    for name, program in work.programs(options.guest, folder).items():
        commands = [w.command(program) for w in ways]
        wanted = is_wanted(options, name) and (options.only or not usual or name in usual)
        if wanted and all(commands):
            yield name, commands, None
        elif wanted:
            print(f"{name:12} is not installed", flush=True)


def run_all(options, ways, folder, rows):
    env = environment(folder)
    ratios, failed = {w.name: [] for w in ways[1:]}, 0
    print(f"{'':12} {'native s':>8} " + " ".join(f"{w.name:>9}" for w in ways[1:]), flush=True)
    for name, commands, right in rows:
        least, same = measure(commands, env, options.runs, options.warming, right)
        failed += not same
        row = [t / least[0] for t in least[1:]]
        for way, ratio in zip(ways[1:], row):
            ratios[way.name].append(ratio)
        print(f"{name:12} {least[0]:8.2f} " + " ".join(f"{r:9.2f}" for r in row) + ("" if same else "  RESULTS DIFFER"), flush=True)
    print(f"{'mean':12} {'':8} " + " ".join(f"{geomean(ratios[w.name]):9.2f}" for w in ways[1:]))
    return ratios, failed


def add_options(parser):
    parser.add_argument("--guest", choices=("riscv64", "x86_64"), default="x86_64")
    parser.add_argument("--root", default="/", help="where the guest's programs are")
    parser.add_argument("--native", default="/", help="where the host's are")
    parser.add_argument("--runs", type=int, default=3, help="that are measured, of each")
    parser.add_argument("--warming", type=int, default=WARMING_RUNS, help="runs before these")
    parser.add_argument("--only", help="names of programs, with commas between them")


def foreign(options):
    """What `lathe run` and qemu have to know to find the guest's programs."""
    return ["-L", options.root] if options.root != "/" else []
