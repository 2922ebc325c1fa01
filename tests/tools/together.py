#!/usr/bin/env python3
"""together.py LATHE PROGRAM...: several tools that watch a program at once say what each of them says alone, see their own options only, and are called in their order; messages name the
right one. The programs have no dynamic linker, so each run of one is the same."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from expecting import expect, fail, finish

lathe, *programs = (os.path.abspath(a) for a in sys.argv[1:])
TIERS = "quick", "opt", "auto"


def watch(program, *tools, tier="auto", environment={}):
    """The status of a run, and what it writes to standard error."""
    done = subprocess.run([lathe, "run", "--tier=" + tier, *("--tool=" + t for t in tools), "--", program],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=os.environ | environment)
    return done.returncode, done.stderr


def contents(name):
    """But for the number of the process, which calls tells."""
    with open(name) as file:
        return [line for line in file if not line.startswith("pid:")]


def written(name, text):
    with open(name, "w") as file:
        file.write("#include <lathe/tool.h>\n" + text)
    return "./" + name


# --------------------------------------------------------------------------------------------------------- shipped tools

# inscount and align count between the program's instructions; bbcount and opcodemix have words of each thread.
SHIPPED = "inscount", "bbcount,top=5", "opcodemix", "align", "bbcount,top=7", "syscalls"


def without_times(text):
    """syscalls tells times."""
    return [line for line in text.splitlines() if "ms" not in line and "write" not in line and "exit" not in line]


def check_shipped(program, tier):
    if tier == "opt" and "riscv64" in program:
        return  # inscount alone counts a far call as one instruction there, and runs in quick code together with others
    alone = [watch(program, tool, tier=tier) for tool in SHIPPED]
    status, text = watch(program, *SHIPPED, tier=tier)
    expect(f"{program}, tier {tier}: status", status, alone[0][0])
    expect(f"{program}, tier {tier}", without_times(text), without_times("".join(a[1] for a in alone)))


def check_files(program):
    """The same tool twice, with files of its own."""
    watch(program, "calls,out=alone")
    watch(program, "calls,out=first", "coverage,out=covered,lcov", "calls,out=second")
    for name in "first", "second":
        expect(f"{program}: calls with other tools", contents(name), contents("alone"))
    if "end_of_record\n" not in contents("covered"):
        fail(f"{program}: coverage with other tools: {contents('covered')}")


# --------------------------------------------------------------------------------------------------------- tools of ours

NAMED = """
static uint64_t *words, seen;
static const char *name;
static void insn(uint64_t *own) {
    words = own;
    own[0]++;
    if (seen++ < 2)
        lathe_print("%s ", name);
}
static void start(void) { name = lathe_option("name"); lathe_print("%s starts ", name); }
static void end(void) { lathe_print("%s %d, ", name, words[0] == seen); }
LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_INSN, insn, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end));
"""

CRASHING = """
static void crash(void) { if (lathe_option("crash")) *(volatile int *)8 = 1; }
LATHE_HOOKS(LATHE_ON(LATHE_START, crash));
"""

LEAVING = """
static void leave(void) { lathe_fail("enough"); }
LATHE_HOOKS(LATHE_ON(LATHE_END, leave));
"""


def check_order(program, tier):
    tool = written("named.c", NAMED)
    status, text = watch(program, tool + ",name=a", tool + ",name=b", tool + ",name=c", tier=tier)
    expect(f"{program}, tier {tier}: order", text, "a starts b starts c starts a b c a b c a 1, b 1, c 1, ")


def check_messages(program):
    crashing, leaving, named = written("crashing.c", CRASHING), written("leaving.c", LEAVING), written("named.c", NAMED)
    other = written("other.c", CRASHING)
    for tools, name in (([crashing, other + ",crash"], "other"), ([crashing + ",crash", other], "crashing")):
        status, text = watch(program, *tools)
        expect(f"{name} crashes: status", status, 127)
        if f"the tool's function crash of {name} has failed: a bad access to memory (signal 11)" not in text:
            fail(f"{name} crashes: {text}")
    if "the tool's function crash has failed" not in watch(program, crashing + ",crash")[1]:
        fail(f"one tool crashes: {text}")
    expect("lathe_fail", watch(program, "inscount", leaving)[1].splitlines()[-1], "lathe: the tool leaving: enough")
    expect("unknown option", watch(program, named + ",name=x", other + ",name=y")[1],
           "x starts lathe: the tool: other has no option 'name'; it knows crash\n")
    if "empty.c: it has no LATHE_HOOKS" not in watch(program, named, written("empty.c", ""))[1]:
        fail("a tool without hooks, beside another one")
    if "too many tools" not in watch(program, *["inscount"] * 9)[1]:
        fail("nine tools")


def check_variable(program):
    """LATHE_TOOL names one tool; those of the command line take its place."""
    one = watch(program, "inscount")
    expect("LATHE_TOOL", watch(program, environment={"LATHE_TOOL": "inscount"}), one)
    expect("LATHE_TOOL and --tool", watch(program, "inscount", environment={"LATHE_TOOL": "opcodemix"}), one)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    os.environ["XDG_CACHE_HOME"] = work
    for p in programs:
        for t in TIERS:
            check_shipped(p, t)
            check_order(p, t)
        check_files(p)
    check_messages(programs[0])
    check_variable(programs[0])
    done = subprocess.run([lathe, "tool", "inscount", "calls"], capture_output=True, text=True)
    expect("lathe tool", done.stdout.splitlines()[:3], ["hook 1: only counts: put between instructions", "hook 2: called",
                                                        "hook 3: called"])
    os.chdir("/")
finish()
