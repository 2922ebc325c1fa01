#!/usr/bin/env python3
"""profiles.py LATHE PROFILED LEAVING SOURCE [PROFILED_RISCV64 LEAVING_RISCV64]: what the tools calls and cache say is what callgrind and cachegrind say of the same program, as
callgrind_annotate and cg_annotate show it."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

lathe, profiled, leaving, here = (os.path.abspath(a) for a in sys.argv[1:5])
others = [os.path.abspath(a) for a in sys.argv[5:]]
failed = False


def fail(text):
    global failed
    print("FAIL:", text)
    failed = True


def expect(what, got, wanted):
    if got != wanted:
        fail(f"{what}: {got} instead of {wanted}")


def output(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if status is not None and done.returncode != status:
        fail(f"{' '.join(command)}: status {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def native(program, *arguments):
    return subprocess.run([program, *arguments]).returncode


def watch(tool, program, *arguments, tier="auto", status=0):
    return output(lathe, "run", "--tier=" + tier, "--tool=" + tool, "--", program, *arguments, status=status)


def number(text):
    return int(text.replace(",", ""))


def instructions(program, status, tier="auto"):
    return number(re.search(r"(\d+) instructions", watch("inscount", program, status=status, tier=tier)).group(1))


# --------------------------------------------------------------------------------------------------------------- calls

def calls(profile):
    """What callgrind_annotate knows: {function: inclusive cost}, {(caller, function): (times, cost)} and the whole."""
    text = output("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--tree=caller", "--show-percs=no", profile)
    total = number(re.search(r"^([\d,]+) +PROGRAM TOTALS", text, re.M).group(1))
    cost, edges, callers = {}, {}, []
    for m in re.finditer(r"^ *([\d,]+) +([*<]) +[^:\n]*:(.+?)(?: \(([\d,]+)x\))? \[", text, re.M):
        if m.group(2) == "<":
            callers.append((m.group(3), number(m.group(4)), number(m.group(1))))
            continue
        cost[m.group(3)] = number(m.group(1))
        for caller, times, inclusive in callers:
            edges[caller, m.group(3)] = (times, inclusive)
        callers = []
    return cost, edges, total


def lines(profile):
    """Costs by line of the source, as callgrind_annotate shows it, without calls."""
    text = output("callgrind_annotate", "--show-percs=no", profile)
    source = text.split("-- Auto-annotated source: ")
    if len(source) != 2:
        fail(f"{profile}: no annotated source: {text[:500]}")
        return []
    return [line for line in source[1].splitlines()[2:] if "=>" not in line]


RECURSIVE = {"fib", "is_even", "is_odd", "deep"}


def compare_calls(tier):
    status = native(profiled)
    watch("calls,out=lathe.calls", profiled, tier=tier, status=status)
    cost, edges, total = calls("lathe.calls")
    expect(f"calls, {tier}: all", total, instructions(profiled, status, tier))
    wanted, wanted_edges, _ = calls("valgrind.calls")
    for f in wanted:
        # valgrind does not count the last two instructions, with which the program ends, and has another name for the first function
        if f != "(below main)" and f.split("'")[0] not in RECURSIVE - {"fib"} and "'" not in f:
            expect(f"calls, {tier}: {f}", cost.get(f), wanted[f])
    for (caller, f), edge in wanted_edges.items():
        if caller != "(below main)" and not {caller.split("'")[0], f.split("'")[0]} & RECURSIVE:
            expect(f"calls, {tier}: {caller} to {f}", edges.get((caller, f)), edge)
    for f in ("fib", "deep"):
        times = sum(n for edge, (n, _) in wanted_edges.items() if {name.split("'")[0] for name in edge} == {f})
        expect(f"calls, {tier}: {f} to itself", edges.get((f, f)), (times, 0))
    expect(f"calls, {tier}: is_even", cost.get("is_even"), wanted["is_even"])
    compare_lines(tier)


def compare_lines(tier):
    end = "_start|leave|syscall|events annotated"
    got, wanted = ([x for x in lines(f) if not re.search(end, x)] for f in ("lathe.calls", "valgrind.calls"))
    if [x.split() for x in got] != [x.split() for x in wanted]:
        different = [f"{a} instead of {b}" for a, b in zip(got, wanted) if a.split() != b.split()]
        fail(f"calls, {tier}: lines: {different[:5]}, {len(got)} and {len(wanted)} lines")


def check_folded(program):
    status = native(profiled)
    watch("calls,folded,out=folded", program, status=status)
    stacks = dict(line.rsplit(" ", 1) for line in open("folded"))
    expect("folded: all", sum(map(int, stacks.values())), instructions(program, status, "quick"))
    watch("calls,out=lathe.calls", program, status=status)
    cost, edges, _ = calls("lathe.calls")
    for f in ("twice", "half", "plus"):
        own = sum(int(n) for s, n in stacks.items() if s == "_start;work;computed;" + f)
        expect(f"folded: {f}", own, edges["computed", f][1])
    expect("folded: fib", sum(int(n) for s, n in stacks.items() if "fib" in s), cost["fib"])
    deepest = max((s for s in stacks if "fib" in s), key=len)
    expect("folded: recursion", deepest, "_start;work" + 12 * ";fib")
    expect("folded: jumps", sorted(s for s in stacks if "deep" in s)[-1], "_start;work;jump_out" + 11 * ";deep")


# What happens in each of leaving's threads, 100 times. __cxa_throw may be in another file.
LEFT = {("thrown", "__cxa_throw"): 1, ("work", "caught"): 1, ("caught", "step"): 1, ("caught", "thrown"): 1, ("thrown", "thrown"): 5, ("work", "interrupted"): 1,
        ("interrupted", "step"): 1, ("work", "jumped_out"): 1, ("jumped_out", "step"): 1, ("jumped_out", "interrupted"): 1,
        ("handler", "handled"): 2, ("handled", "step"): 2, ("work", "step"): 100}


def check_leaving(program, tier):
    watch("calls,out=lathe.calls", program, "threads", tier=tier)
    cost, edges, total = calls("lathe.calls")
    for edge, times in LEFT.items():
        expect(f"leaving, {tier}: {edge}", edges.get(edge, (0, 0))[0], 400 * times)
    one = edges["work", "step"][1] // 40000
    expect(f"leaving, {tier}: cost of a step", cost["step"], 42000 * one)
    too_much = [f for f in cost if cost[f] > total]
    expect(f"leaving, {tier}: functions that cost more than all", too_much, [])
    watch("cache,out=lathe.cache", program, "threads", tier=tier)
    expect(f"leaving, {tier}: instructions of step", costs("lathe.cache")[0]["step"][0], cost["step"])


def check_copy(program):
    for old in glob.glob("copy.*"):
        os.remove(old)
    watch("calls,out=copy.%p", program, "fork")
    files = glob.glob("copy.*")
    expect("fork: files", len(files), 2)
    edges = [calls(f)[1] for f in files]
    copies = [e for e in edges if ("in_copy", "in_child") in e]
    expect("fork: copies that call in_child", len(copies), 1)
    if copies:
        expect("fork: steps of the copy", copies[0]["in_child", "step"][0], 10)
        expect("fork: the copy is in main", "main" in {f for edge in copies[0] for f in edge}, True)


# --------------------------------------------------------------------------------------------------------------- caches

def costs(profile):
    """What cg_annotate knows: {function: costs of all events}, and those of the program."""
    text = output("cg_annotate", "--show-percs=no", "--threshold=0", "--auto=no", profile)
    rows = re.findall(r"^ *((?:[\d,]+ +){13})(\S.*)$", text, re.M)
    table = {what.rsplit(":", 1)[-1].strip(): [number(n) for n in numbers.split()] for numbers, what in rows}
    if "(below main)" in table:
        table["_start"] = table.pop("(below main)")
    return table, table.pop("PROGRAM TOTALS", None)


CACHES = [{}, {"I1": "1024/2/32", "D1": "3072/3/64", "LL": "65536/4/64"}]


def compare_costs(caches, tier):
    sizes = dict({"I1": "32768/8/64", "D1": "32768/8/64", "LL": "8388608/16/64"}, **caches)
    output("valgrind", "--tool=cachegrind", "--branch-sim=yes", "--cachegrind-out-file=valgrind.cache",
           *(f"--{c}={size.replace('/', ',')}" for c, size in sizes.items()), profiled, status=None)
    watch("cache,out=lathe.cache" + "".join(f",{c}={size}" for c, size in caches.items()), profiled, tier=tier, status=native(profiled))
    got, total = costs("lathe.cache")
    wanted, wanted_total = costs("valgrind.cache")
    expect(f"cache, {tier}, {caches}", total, wanted_total)
    for f in wanted:
        expect(f"cache, {tier}, {caches}: {f}", got.get(f), wanted[f])


def check_refused():
    for option in ("D1=32768", "D1=32768/8/63", "LL=100000/16/64", "I1=/8/64"):
        text = watch("cache," + option, profiled, status=127)
        if option not in text:
            fail(f"cache,{option}: {text}")


def main():
    missing = [p for p in ("valgrind", "callgrind_annotate", "cg_annotate") if not shutil.which(p)]
    if missing:
        print(f"FAIL: {', '.join(missing)} is not installed: it is in the package valgrind")
        return 1
    with tempfile.TemporaryDirectory() as work:
        os.environ["LATHE_CACHE"] = work + "/cache"
        os.environ.pop("LATHE_TOOL", None)
        os.chdir(work)
        output("valgrind", "--tool=callgrind", "--callgrind-out-file=valgrind.calls", profiled, status=None)
        for tier in ("quick", "opt"):
            compare_calls(tier)
            check_leaving(leaving, "auto" if tier == "opt" else tier)  # optimised code of all its libraries would take long
        for caches in CACHES:
            for tier in ("quick", "opt"):
                compare_costs(caches, tier)
        for program in [profiled] + others[::2]:
            check_folded(program)
        for program in [leaving] + others[1::2]:
            check_copy(program)
        for program in others[1::2]:
            check_leaving(program, "auto")
        check_refused()
        os.chdir("/")
    print("failed" if failed else "ok")
    return failed


sys.exit(main())
