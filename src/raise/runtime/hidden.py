#!/usr/bin/env python3
"""hidden.py OUTPUT SOURCE COMPILER...: compiles C++, and hides everything that it defines.

The headers of the C++ library say that its classes are for everybody, which the compiler prefers to what it is told otherwise.
"""
import re
import subprocess
import sys
import tempfile

output, source, *compiler = sys.argv[1:]
with tempfile.NamedTemporaryFile("w", suffix=".s") as assembly:
    text = subprocess.run([*compiler, "-S", source, "-o", "-"], stdout=subprocess.PIPE, check=True, text=True).stdout
    defined = set(re.findall(r"^(\w+):", text, re.M)) | set(re.findall(r"^\t\.set\t(\w+),", text, re.M))
    names = sorted(defined.intersection(re.findall(r"^\t\.(?:weak|globa?l)\t(\w+)$", text, re.M)))
    assembly.write(text + "".join(f"\t.hidden\t{name}\n" for name in names))
    assembly.flush()
    subprocess.run([*compiler, "-c", assembly.name, "-o", output], check=True)
