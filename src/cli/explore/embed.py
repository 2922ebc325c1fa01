#!/usr/bin/env python3
"""embed.py OUT.c NAME=FILE[,FILE]...: C source with the constants NAME, each the text of its files one behind the other."""
import sys


def literal(line):
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '\\n"\n'


with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write('#include "cli/explore/page.h"\n')
    for argument in sys.argv[2:]:
        name, files = argument.split("=", 1)
        out.write(f"\nconst char {name}[] =\n")
        for path in files.split(","):
            with open(path, encoding="utf-8") as f:
                out.writelines(literal(line) for line in f.read().splitlines())
        out.write("    ;\n")
