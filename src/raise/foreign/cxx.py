#!/usr/bin/env python3
"""cxx.py LIBRARY OUTPUT: the prototypes of the functions of the C++ library, by their names, as a table in C.

A mangled name says what a function takes, and not what it returns, nor whether a member function is static. What is returned in registers for integers is read from two of these, whatever it
is. Functions that return classes in memory are known by their names; those that return floating-point numbers are left out likewise, and so are those that take
classes that are not known.
"""
import re
import subprocess
import sys

INTS = {"bool": "B", "char": "b", "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "int": "i", "unsigned int": "I",
        "wchar_t": "i", "char16_t": "H", "char32_t": "I", "long": "l", "unsigned long": "l", "long long": "l", "unsigned long long": "l",
        "float": "f", "double": "d", "long double": "x"}
ENUMS = ("std::_Ios_Openmode", "std::_Ios_Seekdir", "std::_Ios_Iostate", "std::_Ios_Fmtflags", "std::memory_order")
# Classes with a destructor or a copy constructor of their own, by value: an address on all machines.
BY_ADDRESS = re.compile(r"std::(__cxx11::basic_string|unique_ptr|shared_ptr|__exception_ptr::exception_ptr|locale$|function)\b")
NAMESPACES = {"std", "__gnu_cxx", "__cxxabiv1", "__detail", "_V2", "chrono", "this_thread", "__cxx11", "pmr", "experimental", "__parallel", "ranges"}
STATIC = {"now", "classic", "global", "hardware_concurrency", "operator new", "operator delete", "operator new[]", "operator delete[]", "max", "min"}
# These return a class in memory,
IN_MEMORY = {"substr", "str", "getloc", "ios_base::imbue", "basic_ios::imbue", "pubimbue", "message", "current_exception"}
# and these perhaps, or a floating-point number, or a class whose parts are no integers.
LEFT_OUT = {"combine", "name", "_M_getentropy", "_M_getval", "do_message", "operator+", "get_allocator", "do_grouping", "grouping", "truename", "falsename",
            "do_truename", "do_falsename", "curr_symbol", "positive_sign", "negative_sign", "do_curr_symbol", "do_positive_sign", "do_negative_sign", "do_get",
            "do_transform", "transform", "fixed", "_M_extract_float", "view", "tellg", "tellp", "seekoff", "seekpos", "pubseekoff", "pubseekpos", "load_factor"}
# Files have a lock in them, which is larger on some machines.
LEFT_OUT_SCOPES = re.compile(r"\bfilesystem\b|\bpmr\b|\bbasic_filebuf\b|\bbasic_[io]?fstream\b|__basic_file|transaction clone|thunk to|\bTLS |guard variable")


def split(text, divider):
    """At dividers that are in no brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<([{") - (c in ">)]}")
        if depth == 0 and text.startswith(divider, i):
            parts.append(text[start:i])
            start = i + len(divider)
    return parts + [text[start:]]


def letter(kind):
    kind = re.sub(r"\bconst\b|\bvolatile\b", "", kind).strip()
    kind = re.sub(r"\s+", " ", kind)
    if kind.endswith(("*", "&")) or "(*)" in kind:
        return "p"
    if kind in ENUMS:
        return "I"
    if BY_ADDRESS.match(kind):
        return "p"
    if re.match(r"std::chrono::(duration|time_point)<", kind):
        return "l"
    return INTS.get(kind, "?")


def parameters(text):
    """The name and what is in its brackets; None: it is no function that is understood."""
    text = re.sub(r"\[abi:\w+\]", "", text)
    text = re.sub(r" const$", "", text)
    text = text.replace("operator bool", "operator_bool").replace("operator()", "operator_call").replace("operator<<", "operator_left").replace("operator>>", "operator_right")
    text = re.sub(r"(operator_(?:left|right)) <", r"\1<", text)
    text = re.sub(r"operator(<=>|<=|>=|->\*?|<|>)", "operator_order", text)
    if not text.endswith(")"):
        return None
    depth, at = 0, len(text)
    while at > 0:
        at -= 1
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            break
    return text[:at], text[at + 1:-1]


def prototype(text):
    found = None if LEFT_OUT_SCOPES.search(text) else parameters(text)
    if not found:
        return None
    head, inside = found
    words = split(head, " ")
    if words[0].startswith("operator"):
        words = [head]
    result = "q" if len(words) == 1 else letter(" ".join(words[:-1]))
    parts = split(words[-1], "::")
    name = re.sub(r"<.*", "", parts[-1])
    if name in LEFT_OUT or result in "?fdx":
        return None
    is_member = len(parts) > 1 and re.sub(r"<.*", "", parts[-2]) not in NAMESPACES
    own = "p" if is_member and name not in STATIC and not name.startswith("_S_") else ""
    scope = re.sub(r"<.*", "", parts[-2]) if len(parts) > 1 else ""
    if (name in IN_MEMORY or f"{scope}::{name}" in IN_MEMORY) and not (name == "str" and inside):
        result, own = "m", "p" + own
    taken = [] if inside in ("", "void") else [letter(p.strip()) for p in split(inside, ",")]
    if "?" in taken or "..." in inside:
        return None
    return result + own + "".join(taken)


def main():
    library, output = sys.argv[1:]
    lines = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")
    names = sorted({line.split()[2].split("@")[0] for line in lines if re.match(r"\w+ [TWi] _Z", line)})
    readable = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")
    rows = []
    for name, text in zip(names, readable):
        types = prototype(text)
        if types and name != text:
            rows.append(f'    {{"{name}", "{types}", {{0}}}},')
    with open(output, "w") as f:
        f.write("/* Made by cxx.py from the names of the C++ library. */\n")
        f.write("static const Prototype cxx_prototypes[] = {\n" + "\n".join(rows or ['    {"", "", {0}},']) + "\n};\n")


main()
