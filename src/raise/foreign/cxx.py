#!/usr/bin/env python3
"""cxx.py LIBRARY OUTPUT SLOTS: the prototypes of the functions of the C++ library, by their names, as a table in C, and as another one which virtual functions return classes in memory.

A mangled name says what a function takes, and not what it returns, nor whether a member function is static. What is returned in registers for integers is read from two of these, whatever it
is, but for truth values, characters and ints, above which machines have different bits: functions that return these are known by their names. Functions that return classes in memory are known by their names; those that return floating-point numbers are left out likewise, and so are those that take
classes that are not known.
"""
import re
import subprocess
import sys

INTS = {"bool": "B", "char": "b", "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "int": "i", "unsigned int": "I",
        "wchar_t": "i", "char16_t": "H", "char32_t": "I", "long": "l", "unsigned long": "l", "long long": "l", "unsigned long long": "l",
        "float": "f", "double": "d", "long double": "x"}
INTS |= {"std::_Setw": "i", "std::_Setprecision": "i", "std::_Setbase": "i", "std::_Setfill<char>": "b", "std::_Setfill<wchar_t>": "i", "std::_Setiosflags": "I",
         "std::_Resetiosflags": "I"} # structs of one number
ENUMS = ("std::_Ios_Openmode", "std::_Ios_Seekdir", "std::_Ios_Iostate", "std::_Ios_Fmtflags", "std::memory_order")
# Classes with a destructor or a copy constructor of their own, by value: an address on all machines.
BY_ADDRESS = re.compile(r"std::(__cxx11::basic_string|unique_ptr|shared_ptr|__exception_ptr::exception_ptr|locale$|function)\b")
# Classes of two integers, which are in two registers if these are left on all machines, the first of which has six.
TWO_WORDS = re.compile(r"std::(fpos|istreambuf_iterator|ostreambuf_iterator)<[^()]*>$")
REGISTERS = 6
NAMESPACES = {"std", "__gnu_cxx", "__cxxabiv1", "__detail", "_V2", "chrono", "this_thread", "__cxx11", "pmr", "experimental", "__parallel", "ranges"}
STATIC = {"now", "classic", "global", "hardware_concurrency", "operator new", "operator delete", "operator new[]", "operator delete[]", "max", "min"}
# These return a class in memory,
IN_MEMORY = {"substr", "str", "getloc", "ios_base::imbue", "basic_ios::imbue", "pubimbue", "message", "_M_message", "current_exception", "rbegin", "rend", "crbegin", "crend",
             "locale::global", "locale::name", "messages::get", "messages::do_get", "_M_convert_from_char", "grouping", "do_grouping", "truename", "do_truename", "falsename",
             "do_falsename", "curr_symbol", "do_curr_symbol", "positive_sign", "do_positive_sign", "negative_sign", "do_negative_sign", "transform", "do_transform", "operator+"}
# but not these of the same names,
IN_REGISTERS = re.compile(r"\bstd::\w*strstream(buf)?::str\(")
# and these perhaps, or a floating-point number.
LEFT_OUT = {"combine", "name", "_M_getentropy", "_M_getval", "do_message", "get_allocator", "fixed", "_M_extract_float", "view", "load_factor"}
# Classes of the library with virtual functions that have no body there, and the number of one that returns a class in memory.
PURE_SLOTS = [("_ZTINSt3_V214error_categoryE", 4)]  # message()
# Functions of no template that return what is narrower than a register, and the type's letter.
NARROW = {name: "B" for name in ("operator_bool", "operator!", "operator==", "operator!=", "good", "eof", "fail", "bad", "empty", "is_open", "equivalent", "test_and_set",
                                 "always_noconv", "do_always_noconv", "is", "do_is", "sync_with_stdio", "uncaught_exception", "__is_pointer_p", "__is_function_p", "__do_catch",
                                 "__do_upcast", "_M_put", "_M_disjunct", "_M_is_local", "_M_terminate_output", "_M_convert_to_external", "_M_futex_wait_until",
                                 "_M_futex_wait_until_steady", "__verify_grouping")}
NARROW |= {name: "i" for name in ("compare", "_M_compare", "do_compare", "_S_compare", "sync", "pubsync", "fd", "uflow", "underflow", "overflow", "pbackfail", "peek", "sgetc", "sputc",
                                  "sbumpc", "snextc", "sungetc", "sputbackc", "frac_digits", "do_frac_digits", "do_encoding", "do_max_length", "do_length", "xalloc",
                                  "uncaught_exceptions", "hardware_concurrency")}
# One character, if they are not given an array of them.
CHARACTER = {"fill", "widen", "narrow", "do_widen", "do_narrow", "do_tolower", "do_toupper", "decimal_point", "do_decimal_point", "thousands_sep", "do_thousands_sep"}
LEFT_OUT_SCOPES = re.compile(r"\bfilesystem\b|\bpmr\b|transaction clone|thunk to|\bTLS |guard variable")


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
    if TWO_WORDS.match(kind):
        return "ll"
    return INTS.get(kind, "?")


def parameters(text):
    """The name and what is in its brackets; None: it is no function that is understood."""
    text = re.sub(r"\[abi:\w+\]", "", text)
    text = re.sub(r"( const)?( &&?)?$", "", text)
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


def narrow(name, text, inside):
    """What a function of no template returns; q: one or two words."""
    if name in CHARACTER and "*" not in inside:
        return "i" if "<wchar_t" in text and not name.endswith("narrow") else "B"
    if name == "get" and "basic_istream<" in text and not inside:
        return "i"
    return NARROW.get(name, "q")


def prototype(text):
    found = None if LEFT_OUT_SCOPES.search(text) else parameters(text)
    if not found:
        return None
    head, inside = found
    words = split(head, " ")
    if words[0].startswith("operator"):
        words = [head]
    parts = split(words[-1], "::")
    name = re.sub(r"<.*", "", parts[-1])
    result = narrow(name, text, inside) if len(words) == 1 else letter(" ".join(words[:-1])).replace("ll", "q")
    scope = re.sub(r"<.*", "", parts[-2]) if len(parts) > 1 else ""
    in_memory = (name in IN_MEMORY or f"{scope}::{name}" in IN_MEMORY) and not (name == "str" and inside) and not IN_REGISTERS.search(text)
    if not in_memory and (name in LEFT_OUT or result in "?fdx"):
        return None
    is_member = len(parts) > 1 and re.sub(r"<.*", "", parts[-2]) not in NAMESPACES
    own = "p" if is_member and name not in STATIC and not name.startswith("_S_") else ""
    if in_memory:
        result, own = "m", "p" + own
    taken = own
    for p in [] if inside in ("", "void") else split(inside, ","):
        more = letter(p.strip())
        if len(more) > 1 and len(re.sub("[fdx]", "", taken + more)) > REGISTERS:
            return None
        taken += more
    return None if "?" in taken or "..." in inside else result + taken


def output_of(*words, text=None):
    return subprocess.run(words, input=text, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")


def vtables(library):
    """The places of the library's tables of virtual functions: name, beginning and end."""
    for line in output_of("readelf", "-W", "--dyn-syms", library):
        words = line.split()
        if len(words) == 8 and words[7].startswith("_ZTV") and words[3] == "OBJECT":
            yield words[7].split("@")[0], int(words[1], 16), int(words[1], 16) + int(words[2], 0)


def slots_in_memory(library, types):
    """Virtual functions that return classes in memory: the class, and which of its virtual functions that is. The first two words of a table are no functions."""
    found = set(PURE_SLOTS)
    pointers = {}
    for line in output_of("readelf", "-W", "--relocs", library):
        words = line.split()
        if len(words) > 4 and types.get(words[4].split("@")[0], "").startswith("m"):
            pointers[int(words[0], 16)] = True
    for name, start, end in vtables(library):
        found |= {("_ZTI" + name[4:], (at - start) // 8 - 2) for at in pointers if start <= at < end}
    return sorted(found)


def main():
    library, output, slots_output = sys.argv[1:]
    lines = output_of("nm", "-D", "--defined-only", library)
    names = sorted({line.split()[2].split("@")[0] for line in lines if re.match(r"\w+ [TWi] _Z", line)})
    readable = output_of("c++filt", text="\n".join(names))
    types = {name: prototype(text) for name, text in zip(names, readable) if name != text and prototype(text)}
    rows = [f'    {{"{name}", "{types[name]}", {{0}}}},' for name in sorted(types)]
    slots = [f'    {{"{name}", {slot}}},' for name, slot in slots_in_memory(library, types)]
    with open(output, "w") as f:
        f.write("/* Made by cxx.py from the names of the C++ library. */\n")
        f.write("static const Prototype cxx_prototypes[] = {\n" + "\n".join(rows or ['    {"", "", {0}},']) + "\n};\n")
    with open(slots_output, "w") as f:
        f.write("/* Made by cxx.py from the C++ library. */\nstatic const CxxSlot cxx_slots[] = {\n" + "\n".join(slots) + "\n};\n")


main()
