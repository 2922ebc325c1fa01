#!/usr/bin/env python3
"""prototypes.py CLANG HEADERS OUTPUT HOST…: the prototypes of the functions that the headers declare, as a table in C.

Clang reads the headers for each of these hosts, of which the first is the one that others are compared with. A function's row has its type as letters (prototypes.h
explains them), and for each host the name of a type that its parameters lead to and that is laid out differently there.
"""
import json
import re
import subprocess
import sys

INTS = {"char": "b", "signed char": "b", "_Bool": "B", "bool": "B", "unsigned char": "B", "short": "h", "unsigned short": "H",
        "int": "i", "unsigned int": "I", "long": "l", "unsigned long": "l", "long long": "l", "unsigned long long": "l",
        "float": "f", "double": "d", "long double": "x", "void": "v", "__int128": "?", "unsigned __int128": "?"}
AROUND = "lathe_around_"
RECORD = re.compile(r"\b(?:(struct|union) )?(\w+)")


def run(clang, host, headers, option, text=""):
    """What clang dumps of the headers, with `text` behind them."""
    # Headers of another machine are where Debian's cross packages have them.
    args = [clang, "-fsyntax-only", "-w", "-xc", "-std=gnu11", "-D_GNU_SOURCE", "-D_FORTIFY_SOURCE=2", "-O1", f"--target={host}-linux-gnu"]
    args += ["-isystem", f"/usr/{host}-linux-gnu/include"]
    args += ["-Xclang", option, "-include", headers, "-"]
    return subprocess.run(args, input=text, stdout=subprocess.PIPE, check=True, text=True).stdout


class Machine:
    def __init__(self, clang, host, headers):
        self.typedefs = {}
        self.functions = {}
        unnamed, named = [], []
        for node in json.loads(run(clang, host, headers, "-ast-dump=json"))["inner"]:
            if node["kind"] == "TypedefDecl":
                self.typedefs[node["name"]] = node["type"].get("desugaredQualType", node["type"]["qualType"])
                if any(inner.get("ownedTagDecl", {}).get("name") == "" for inner in node.get("inner", [])):
                    unnamed.append(node["name"])
            elif node["kind"] == "RecordDecl" and node.get("completeDefinition") and "name" in node:
                named.append(f'{node["tagUsed"]} {node["name"]}')
            elif node["kind"] == "FunctionDecl" and not node.get("storageClass") == "static":
                # The last declaration counts: headers rename functions by it.
                self.functions.setdefault(node["mangledName"], node)
                if not node.get("isImplicit"):
                    self.functions[node["mangledName"]] = node
        # Layouts have no name where a struct has none, but in another one. All are asked for by their sizes: -fdump-record-layouts-complete would not see
        # attributes behind a struct, as epoll_event has one.
        text = "".join(f"struct {AROUND}{name} {{ {name} value; }};\n" for name in unnamed)
        asked = named + [f"struct {AROUND}{name}" for name in unnamed]
        text += "".join(f"char lathe_size_{i}[sizeof({name}) + 1];\n" for i, name in enumerate(asked))
        self.layouts = self.read_layouts(run(clang, host, headers, "-fdump-record-layouts", text))

    @staticmethod
    def read_layouts(text):
        layouts = {}
        for part in text.split("*** Dumping AST Record Layout")[1:]:
            lines = [line for line in part.split("\n") if "|" in line]
            name = re.sub(r"^(struct|union) ", "", lines[0].split("|")[1].strip())
            if name.startswith(AROUND):
                name = name[len(AROUND):]
                del lines[0]
            layouts[name] = "\n".join(re.sub(r"/\S*", "", line) for line in lines)
        return layouts

    def plain(self, text):
        """The type without qualifiers, typedefs at its head resolved."""
        seen = set()
        while True:
            text = re.sub(r"\b(const|volatile|restrict|_Atomic|__restrict)\b", "", text)
            text = re.sub(r"\s+", " ", text).strip()
            if text not in self.typedefs or text in seen:
                return text
            seen.add(text)
            text = self.typedefs[text]

    def letter(self, text, written=""):
        text = self.plain(text)
        if "va_list" in text + written:
            return "a"
        if text in INTS:
            return INTS[text]
        if text.startswith("enum "):
            return "I"
        if "(*)" in text or re.search(r"\(\*\w*\)", text):
            return "c"
        if text.endswith("*"):
            # A pointer to a function type.
            return "c" if re.search(r"\)$", self.plain(text[:-1])) else "p"
        if text.endswith("]"):
            return "p"
        return self.struct(re.sub(r"^(struct|union) ", "", text))

    def struct(self, name):
        """A struct of integers only, of up to 16 bytes, travels in one or two registers everywhere."""
        layout = self.layouts.get(name, "")
        size = re.search(r"sizeof=(\d+)", layout)
        fields = [line.split("|")[1].split() for line in layout.split("\n")[1:] if "sizeof" not in line]
        plain = all(len(f) >= 2 and INTS.get(self.plain(" ".join(f[:-1])), "?") in "bBhHiIl" for f in fields)
        if not size or not plain or int(size.group(1)) > 16:
            return "?"
        return "l" if int(size.group(1)) <= 8 else "q"

    def signature(self, node):
        params = [p for p in node.get("inner", []) if p["kind"] == "ParmVarDecl"]
        # A function that returns a pointer to a function is written around its parameters.
        whole = node["type"]["qualType"]
        text = "p" if "(*(" in whole else self.letter(whole.split("(")[0].strip())
        kinds = [self.letter(p["type"].get("desugaredQualType", p["type"]["qualType"]), p["type"]["qualType"]) for p in params]
        if node.get("variadic"):
            kinds.append(".")
        return text + "".join(self.mark_format(node, params, kinds))

    def mark_format(self, node, params, kinds):
        """The last string before variable arguments is their format, if the function has one."""
        if len(kinds) < 2 or kinds[-1] not in ".a" or kinds[-2] != "p":
            return kinds
        param = params[len(kinds) - 2]
        has_format = any(inner["kind"] == "FormatAttr" for inner in node["inner"])
        if has_format or re.fullmatch(r"_*(fmt|format)", param.get("name", "")):
            is_wide = self.plain(self.plain(param["type"]["qualType"])[:-1]) != "char"
            scans = "scanf" in node["name"]
            kinds[-2] = ("w" if scans else "W") if is_wide else "S" if scans else "F"
        return kinds

    def records(self, node):
        for p in node.get("inner", []):
            if p["kind"] == "ParmVarDecl":
                yield from self.records_in(p["type"].get("desugaredQualType", p["type"]["qualType"]), set())

    def records_in(self, text, seen):
        for _, name in RECORD.findall(text):
            if name in seen or name == "__va_list_tag":
                continue
            seen.add(name)
            if name in self.typedefs:
                yield from self.records_in(self.typedefs[name], seen)
            if name in self.layouts:
                yield name
                for line in self.layouts[name].split("\n")[1:]:
                    yield from self.records_in(line.split("|")[1], seen)


def differs(own, other, node):
    for name in own.records(node):
        if own.layouts[name] != other.layouts.get(name):
            return name
    return None


def main():
    clang, headers, output, *hosts = sys.argv[1:]
    own, *others = [(host, Machine(clang, host, headers)) for host in hosts]
    own = own[1]
    rows = []
    for name, node in sorted(own.functions.items()):
        if name.startswith("__builtin"):
            continue
        fields = ["NULL"] * len(hosts)
        for i, (_, other) in enumerate(others):
            there = other.functions.get(name)
            same = there and other.signature(there).upper() == own.signature(node).upper()
            what = differs(own, other, node)
            if there and (not same or what):
                fields[1 + i] = f'"{what or "its prototype"}"'
        rows.append(f'    {{"{name}", "{own.signature(node)}", {{{", ".join(fields)}}}}},')
    with open(output, "w") as f:
        f.write("/* Made by prototypes.py from the system's headers. */\n")
        f.write("static const char *const prototype_hosts[] = {" + ", ".join(f'"{h}"' for h in hosts) + "};\n")
        f.write("static const Prototype prototypes[] = {\n" + "\n".join(rows) + "\n};\n")


main()
