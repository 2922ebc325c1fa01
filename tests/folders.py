#!/usr/bin/env python3
"""folders.py SOURCE [--update]: the folders of src, and who includes from whom.

The graph of folders, as the #include lines draw it, has no cycle: a folder includes from its own, and from folders below it. The picture of it in
HACKING.md is up to date (--update writes it). Folders that have a front are included from by it. No folder has more sources than a reader holds in mind.
"""
import collections
import os
import re
import sys

SOURCES_MAX = 20
DOORS = ("cli", "run", "binopt")
# The headers of the first folder are all that the others include of it: nothing of the folders in it.
FRONTS = {"run/client/code": ("run/client/os", "run/client/guest")}
BEGIN, END = "<!-- folders: begin -->\n", "<!-- folders: end -->\n"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
TEXT = (".c", ".cpp", ".h", ".S", ".def")
COMPILED = (".c", ".cpp", ".S")


def files_of(root):
    for folder, inner, names in os.walk(os.path.join(root, "src")):
        inner.sort()
        for name in sorted(names):
            yield os.path.relpath(folder, os.path.join(root, "src")), name


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


class Tree:
    """All files of src, and the folders in which an include may be found without its path: those that a meson.build passes to the compiler."""

    def __init__(self, root):
        self.root = root
        self.files = [(folder, name) for folder, name in files_of(root) if name.endswith(TEXT)]
        self.known = set(os.path.normpath(os.path.join(*f)) for f in self.files)
        self.folders = set(folder for folder, _ in self.files)
        self.by_name = collections.defaultdict(set)
        for folder, name in self.files:
            self.by_name[name].add(folder)
        builds = [(f, read(root, "src", f, n)) for f, n in files_of(root) if n == "meson.build"]
        self.searched = set(os.path.normpath(os.path.join(f, d)) for f, text in builds
                            for call in re.findall(r"include_directories\(([^)]*)\)", text) for d in re.findall(r"'([^']*)'", call))
        self.generated = set(os.path.basename(n) for _, text in builds for n in re.findall(r"'([\w./-]+\.(?:h|def))'", text))

    def find(self, folder, name):
        """The folders that the file may be in; None: there is no such file."""
        if os.path.normpath(os.path.join(folder, name)) in self.known:
            return [folder]
        if name in self.known:
            return [os.path.dirname(name)]
        if os.path.exists(os.path.join(self.root, "include", name)):
            return []
        found = [f for f in self.by_name.get(name, ()) if f in self.searched]
        if found or os.path.basename(name) not in self.generated:
            return found or None
        return [os.path.dirname(name)] if os.path.dirname(name) in self.folders else []

    def edges(self):
        """(folder, other folder) → the files that include."""
        edges = collections.defaultdict(list)
        for folder, name in self.files:
            for include in INCLUDE.findall(read(self.root, "src", folder, name)):
                found = self.find(folder, include)
                if found is None:
                    sys.exit(f"FAIL: src/{folder}/{name} includes {include}, which is not there")
                for other in found:
                    if other != folder:
                        edges[folder, other].append(f"{name} → {include}")
        return edges


def closure(below):
    """folder → all that it includes from, directly or not."""
    reach = {f: set(o) for f, o in below.items()}
    changed = True
    while changed:
        changed = False
        for f in reach:
            more = set().union(reach[f], *(reach[o] for o in reach[f]))
            changed |= more != reach[f]
            reach[f] = more
    return reach


def say_cycles(edges, reach):
    bad = sorted((a, b) for a, b in edges if a in reach[b])
    for a, b in bad:
        print(f"FAIL: on a cycle: src/{a} includes from src/{b}: {', '.join(sorted(set(edges[a, b]))[:5])}")
    return bool(bad)


def is_in(folder, other):
    return folder == other or folder.startswith(other + "/")


def say_passed_by(edges):
    bad = sorted((a, b, front) for a, b in edges for front, others in FRONTS.items()
                 if b.startswith(front + "/") and any(is_in(a, o) for o in others))
    for a, b, front in bad:
        print(f"FAIL: src/{a} includes from src/{b} instead of src/{front}: {', '.join(sorted(set(edges[a, b]))[:5])}")
    return bool(bad)


def say_crowded(files):
    counts = collections.Counter(folder for folder, name in files if name.endswith(COMPILED))
    crowded = sorted((f, n) for f, n in counts.items() if n > SOURCES_MAX)
    for f, n in crowded:
        print(f"FAIL: src/{f} has {n} sources; a folder that has more than {SOURCES_MAX} needs folders in it")
    return bool(crowded)


def height(folder, below, heights):
    if folder not in heights:
        heights[folder] = 1 + max((height(o, below, heights) for o in below[folder]), default=-1)
    return heights[folder]


def line_of(folder, below, reach):
    direct = sorted(o for o in below[folder] if not any(o in reach[p] for p in below[folder]))
    return f"{folder:<28} → {'  '.join(direct)}" if direct else folder


def picture(below, reach):
    """A line for each folder, with what it stands on; what those stand on in turn is left out. The folders of a door come together, the
    highest first, and so do those of the core that all doors share."""
    heights = {}
    parts = collections.defaultdict(list)
    for f in sorted(below, key=lambda f: (-height(f, below, heights), f)):
        part = f.split("/")[0]
        parts[part if part in DOORS else "core"].append(f)
    groups = [parts[p] for p in DOORS + ("core",)]
    return "```\n" + "\n\n".join("\n".join(line_of(f, below, reach) for f in g) for g in groups) + "\n```\n"


def main(root, update):
    tree = Tree(root)
    edges = tree.edges()
    below = {folder: set() for folder, _ in tree.files}
    for a, b in edges:
        below[a].add(b)
    reach = closure(below)
    if say_cycles(edges, reach) or say_passed_by(edges) or say_crowded(tree.files):
        return 1
    page = read(root, "HACKING.md")
    before, rest = page.split(BEGIN)
    drawn, after = rest.split(END)
    now = picture(below, reach)
    if update:
        with open(os.path.join(root, "HACKING.md"), "w", encoding="utf-8") as f:
            f.write(before + BEGIN + now + END + after)
    elif drawn != now:
        print("FAIL: the picture of folders in HACKING.md is old: tests/folders.py . --update")
        return 1
    print(f"{len(below)} folders, {len(edges)} pairs of which one includes from the other, no cycle")
    return 0


sys.exit(main(sys.argv[1], "--update" in sys.argv))
