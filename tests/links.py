#!/usr/bin/env python3
"""links.py SOURCE: the pages of documentation lead to what is there.

Each relative link of README.md, HACKING.md and docs leads to a file or folder, and its anchor to a heading of that page. Each file that a page names
in backticks (`space.c`, `core/guest.h`) is in the tree; NAME in its path stands for any name.
"""
import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
NAME = re.compile(r"`([\w./-]+\.(?:c|cpp|h|S|def|py|sh|md))`")
TOPS = ("src", "include", "tests", "fuzz", "bench", "examples", "scripts", "tools", "docs")


def pages(root):
    yield "README.md"
    yield "HACKING.md"
    for folder, _, names in os.walk(os.path.join(root, "docs")):
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), root)


def read(root, page):
    with open(os.path.join(root, page), encoding="utf-8") as f:
        return f.read()


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(text):
    """As GitHub makes them of headings: lower case, without punctuation, blanks as dashes; a second one of a name gets a number."""
    seen = {}
    for heading in re.findall(r"^#+ +(.*)$", without_code(text), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        yield f"{name}-{seen[name]}" if seen[name] else name


def bad_links(root, page, text):
    for link in LINK.findall(without_code(text)):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(root, target)):
            yield f"{page}: {link}: there is no {target}"
        elif anchor and anchor not in set(anchors(read(root, target))):
            yield f"{page}: {link}: {target} has no heading of that name"


def bad_names(page, text, files):
    for name in sorted(set(NAME.findall(text))):
        pattern = re.compile("(^|/)" + re.escape(name).replace("NAME", "[^/]+") + "$", re.M)
        if not pattern.search(files):
            yield f"{page}: there is no file {name}"


def main(root):
    files = "\n".join(os.path.relpath(os.path.join(folder, name), root) for top in TOPS for folder, _, names in os.walk(os.path.join(root, top)) for name in names)
    bad, count = [], 0
    for page in pages(root):
        text = read(root, page)
        count += len(LINK.findall(text))
        bad += list(bad_links(root, page, text)) + list(bad_names(page, text, files))
    for line in bad:
        print("FAIL: " + line)
    if not bad:
        print(f"{count} links")
    return bool(bad)


sys.exit(main(sys.argv[1]))
