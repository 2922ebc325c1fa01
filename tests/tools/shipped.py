#!/usr/bin/env python3
"""shipped.py LATHE COUNTED TRACES ALIGNED SOURCE: what the tools bbcount, opcodemix, memtrace, coverage and align say of a program is what the CPU's single steps (traces.c) say,
in all tiers; with threads and in copies of the program the numbers are exact, too."""
import collections
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from expecting import expect, fail, finish

lathe, counted, traces, aligned, here = (os.path.abspath(a) for a in sys.argv[1:6])
TIERS = "quick", "opt", "auto"


def watch(tool, *command, tier="auto"):
    """What a tool writes to standard error."""
    return subprocess.run([lathe, "run", "--tier=" + tier, "--tool=" + tool, "--", *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr


def steps_of(*command):
    """The lines of traces.c, as lists of words."""
    text = subprocess.run([traces, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    steps = [line.split() for line in text.splitlines()]
    assert len(steps) > 50, text
    return steps


def names_of(program):
    """The mnemonic at each address, by objdump."""
    text = subprocess.run(["objdump", "-d", "-M", "intel", "--no-show-raw-insn", program], capture_output=True,
                          text=True).stdout
    return {int(a, 16): name for a, name in re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.M)}


# ------------------------------------------------------------------------------------------------------------- bbcount


def check_blocks(what, steps, tier):
    expected = collections.Counter(int(s[1], 16) for s in steps if s[0] == "K")
    sizes = {int(s[1], 16): int(s[3]) for s in steps if s[0] == "K"}
    lines = watch("bbcount,top=100000", counted, what, tier=tier).splitlines()
    name = f"bbcount {what}, tier {tier}"
    expect(name, lines[0], f"{sum(expected.values())} blocks, of which {len(expected)} are different")
    rows = [line.split() for line in lines[2:]]
    expect(name, {int(r[3], 16): int(r[0]) for r in rows}, dict(expected))
    expect(name + ": instructions", {int(r[3], 16): int(r[2]) for r in rows}, sizes)
    expect(name + ": order", [int(r[0]) for r in rows], sorted((int(r[0]) for r in rows), reverse=True))
    if what in "01":
        inside = next(line for line in lines[2:] if f" {('loops', 'computed')[int(what)]}+0x" in line)
        expect(name + ": symbols", inside.endswith(f" ({counted})"), True)


# ----------------------------------------------------------------------------------------------------------- opcodemix

SAME_NAMES = "mov lea cmp call sub ret add imul shr xor sar push pop and syscall adc sbb lahf sahf not inc".split()


def tables_of(text):
    """The number of instructions, and both tables of opcodemix."""
    tables, table = [], None
    for line in text.splitlines()[1:]:
        words = line.split()
        if words[0] == "times":
            table = {}
            tables.append(table)
        else:
            table[words[2]] = int(words[0])
    return int(text.split()[0]), tables[0], tables[1]


def check_opcodes(what, steps, tier):
    names = names_of(counted)
    insns = [int(s[1], 16) for s in steps if s[0] == "I"]
    expected = collections.Counter(names[pc].replace("movabs", "mov") for pc in insns)
    total, opcodes, classes = tables_of(watch("opcodemix", counted, what, tier=tier))
    name = f"opcodemix {what}, tier {tier}"
    expect(name, total, len(insns))
    expect(name + ": sum", sum(opcodes.values()), len(insns))
    for opcode in SAME_NAMES:
        expect(f"{name}: {opcode}", opcodes.get(opcode, 0), expected[opcode])
    for kind, letter in ("branch", "B"), ("call", "C"), ("return", "R"):
        expect(f"{name}: {kind}", classes.get(kind, 0), sum(s[0] == letter for s in steps))


# ------------------------------------------------------------------------------------------------------------- memtrace


def read_trace(name):
    """The records of each thread: (kind, pc, address, bytes), and the file's bytes."""
    data = open(name, "rb").read()
    magic, version, size = struct.unpack_from("<8sII", data)
    assert (magic, version, size) == (b"lathemem", 2, 16), data[:16]
    threads, at = collections.defaultdict(list), 16
    while at < len(data):
        thread, count = struct.unpack_from("<II", data, at)
        at += 8
        for _ in range(count):
            address, about = struct.unpack_from("<QQ", data, at)
            at += 16
            threads[thread].append(("LS"[about >> 48 & 1], about & (1 << 48) - 1, address, about >> 49))
    assert at == len(data)
    return threads


def relative(records, steps):
    """The records as traces.c has them: places on the stack relative to where it began."""
    base = next(r[2] + int(s[2][6:], 16) for r, s in zip(records, steps) if s[2].startswith("stack-"))
    for kind, pc, address, size in records:
        if base - (1 << 20) <= address < base:
            yield [kind, f"{pc:x}", f"stack-{base - address:x}", f"{size:x}"]
        elif base <= address < base + (1 << 20):
            yield [kind, f"{pc:x}", "above", f"{size:x}"]
        else:
            yield [kind, f"{pc:x}", f"{address:x}", f"{size:x}"]


def check_accesses(what, steps, tier):
    expected = [s for s in steps if s[0] in "LS"]
    watch("memtrace,out=trace", counted, what, tier=tier)
    threads = read_trace("trace")
    name = f"memtrace {what}, tier {tier}"
    expect(name + ": threads", list(threads), [0])
    got = list(relative(threads[0], expected))
    for i, (a, b) in enumerate(zip(got, expected)):
        if a != b:
            fail(f"{name}: access {i} is {a} instead of {b}")
            break
    expect(name + ": accesses", len(got), len(expected))


def check_text():
    watch("memtrace,out=trace", counted, "0")
    watch("memtrace,text,out=text", counted, "0")
    binary = [(k, pc, size) for k, pc, _, size in read_trace("trace")[0]]
    words = [line.split() for line in open("text")]
    expect("memtrace, text", [("S" if w[1] == "store" else "L", int(w[4], 16), int(w[3])) for w in words], binary)


# ------------------------------------------------------------------------------------------------------------- coverage


def read_drcov(name):
    """The modules as (base, end, path), and the blocks as (module, offset, bytes)."""
    data = open(name, "rb").read()
    head = re.match(rb"DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count (\d+)\n"
                    rb"Columns: id, base, end, entry, path\n((?:.*\n)*?)BB Table: (\d+) bbs\n", data)
    assert head, data[:200]
    rows = [line.split(", ") for line in head[2].decode().splitlines()]
    assert len(rows) == int(head[1]) and [int(r[0]) for r in rows] == list(range(len(rows)))
    entries = [(m, offset, size) for offset, size, m in struct.iter_unpack("<IHH", data[head.end():])]
    assert len(entries) == int(head[3])
    return [(int(r[1], 16), int(r[2], 16), r[4]) for r in rows], entries


def check_drcov(what, steps, tier):
    expected = {(int(s[1], 16), int(s[2], 16)) for s in steps if s[0] == "K"}
    watch("coverage,out=drcov", counted, what, tier=tier)
    modules, entries = read_drcov("drcov")
    got = {(modules[m][0] + offset, size) for m, offset, size in entries if modules[m][2] == counted}
    expect(f"coverage {what}, tier {tier}", got, expected)


def check_libraries():
    """Of a program with libraries: all offsets are those of instructions in the files."""
    watch("coverage,out=drcov", "/bin/true")
    modules, entries = read_drcov("drcov")
    used = {m for m, _, _ in entries}
    expect("coverage: the program is there", any(modules[m][2].endswith("/true") for m in used), True)
    for m in used:
        if not modules[m][2].startswith("/"):
            continue
        known = names_of(modules[m][2])
        wrong = [hex(offset) for n, offset, _ in entries if n == m and offset not in known]
        expect(f"coverage: {modules[m][2]}: offsets of no instruction", wrong, [])


# ---------------------------------------------------------------------------------------------------------------- align


def check_align():
    places = [n + 1 for n, line in enumerate(open(here + "/aligned.c")) if re.search(r";  ?/\* .*are not", line)]
    steps = steps_of(aligned)
    loads, stores = (sum(s[0] == letter for s in steps) for letter in "LS")
    for tier in TIERS:
        lines = watch("align", aligned, tier=tier).splitlines()
        expect(f"align, tier {tier}", lines[0], f"250 of {loads} loads and 100 of {stores} stores are not aligned")
        rows = sorted((int(w[0]), int(w[1]), w[2], w[4].split("+")[0], w[-1].split("/")[-1])
                      for w in (line.split() for line in lines[2:]))
        expect(f"align, tier {tier}", rows,
               sorted([(100, 8, "load", "loads", f"aligned.c:{places[0]}"),
                       (100, 8, "load", "loads", f"aligned.c:{places[1]}"),
                       (50, 2, "load", "moving", f"aligned.c:{places[2]}"),
                       (100, 4, "store", "stores", f"aligned.c:{places[3]}")]))


# ------------------------------------------------------------------------------------------------- threads and processes


def check_threads():
    for threads in "t1", "t8":
        expected = int(watch("inscount", counted, threads).split()[0])
        expect(f"opcodemix {threads}", tables_of(watch("opcodemix", counted, threads))[0], expected)
    blocks = [int(watch("bbcount", counted, t).split()[0]) for t in ("t1", "t2", "t3")]
    expect("bbcount: each thread adds the same", blocks[1] - blocks[0], blocks[2] - blocks[1])


def check_forks():
    expected = sorted(int(n) for n in re.findall(r"(\d+) instructions", watch("inscount", counted, "f")))
    watch("opcodemix,out=mix.%p", counted, "f")
    expect("opcodemix of copies", sorted(tables_of(open(n).read())[0] for n in glob.glob("mix.*")), expected)
    watch("memtrace", counted, "f")
    expect("memtrace: files", len(glob.glob("memtrace.*")), 2)
    watch("coverage", counted, "f")
    parts = [{e[1] for e in read_drcov(n)[1]} for n in glob.glob("drcov.out.*")]
    expect("coverage: files", len(parts), 2)
    expect("coverage: a copy has not executed what came before", parts[0] >= parts[1] or parts[1] >= parts[0], True)
    expect("coverage: parts differ", parts[0] != parts[1], True)


def check_ends():
    """What was recorded is written when the program dies of a fault, and when it becomes another one."""
    for name in glob.glob("memtrace.*"):
        os.unlink(name)
    watch("memtrace", counted, "7")
    expected = [s[0] for s in steps_of(counted, "7") if s[0] in "LS"]
    for name in glob.glob("memtrace.*"):
        expect("memtrace of a program that dies", [r[0] for r in read_trace(name)[0]], expected)
        os.unlink(name)
    watch("memtrace", counted, "e")
    expect("memtrace: files of a program that becomes another", len(glob.glob("memtrace.*")), 2)


os.environ.pop("LATHE_TOOL", None)
with tempfile.TemporaryDirectory() as work:
    os.environ["LATHE_CACHE"] = work + "/cache"
    os.mkdir(work + "/out")
    os.chdir(work + "/out")
    for number in "0", "1", "2", "3", "4":
        steps = steps_of(counted, number)
        for tier in TIERS:
            check_blocks(number, steps, tier)
            check_opcodes(number, steps, tier)
            check_drcov(number, steps, tier)
            if number not in "34":  # where a signal's frame is depends on how the stack is aligned
                check_accesses(number, steps, tier)
    check_text()
    check_libraries()
    check_align()
    check_threads()
    check_forks()
    check_ends()
    os.chdir("/")
finish()
