#!/usr/bin/env python3
"""undefined.py LATHE PROGRAM=ORACLE... [clean]: the tool `undefined` reports the same lines of unset.c, for the same reasons, as valgrind does for the oracle, which is the same program or
one for this machine, and nothing in the runs without mistakes. clean: programs of the system are silent, and print what they print natively."""
import os
import re
import subprocess
import sys
import tempfile

lathe, *rest = sys.argv[1:]
lathe = os.path.realpath(lathe)
failed = False
# Whether a switch jumps, or uses an address, depends on what happens to be in memory.
KINDS = {"Conditional jump": "value", "Use of uninitialised": "value", "Syscall param": "system call"}


def fail(text):
    global failed
    failed = True
    print("FAIL:", text)


def reports_of(text):
    """Reports as (case, kind, function, line), and what else was said."""
    reports, others, case, kind = set(), [], "", None
    for line in text.splitlines():
        said = re.sub(r"^==\d+== ?", "", line)
        begins = [k for k in KINDS if said.startswith(k)]
        frame = re.match(r"\s+(?:at|by) 0x[0-9A-Fa-f]+: (\S+).*\(unset\.c:(\d+)\)", said)
        if line.startswith("case "):
            case = line[5:]
        elif begins:
            kind = begins[0]
        elif kind and frame:
            reports.add((case, KINDS[kind], frame[1], int(frame[2])))
            kind = None
        elif re.match(r"Invalid|Mismatched|System call|Process terminating", said):
            others.append(said)
    return reports, others


def watch(tool, *command):
    return subprocess.run([lathe, "run", "--tool=undefined,quiet,leak-check=no" + tool, "--", *command], capture_output=True)


def check_program(program, oracle):
    """Once more with what the cache has: the same."""
    theirs = reports_of(subprocess.run(["valgrind", "-q", oracle, "bad"], capture_output=True, text=True).stderr)[0]
    if len(theirs) < 15:
        fail(f"valgrind reports only {len(theirs)} mistakes of {oracle}")
    for _ in range(2):
        done = watch("", program, "bad")
        ours, others = reports_of(done.stderr.decode())
        if ours != theirs or others or done.returncode:
            fail(f"{program} bad: status {done.returncode}, missing {sorted(theirs - ours)}, too many {sorted(ours - theirs)} {others}")
    done = watch("", program, "good")
    wrong = [line for line in done.stderr.decode().splitlines() if not line.startswith("case ")]
    if wrong or done.returncode:
        fail(f"{program} good: status {done.returncode}: {wrong[:20]}")
    print(f"{program}: {len(theirs)} mistakes, as valgrind says")


def check_clean(directory):
    text = os.path.join(directory, "text")
    with open(text, "w") as out:
        out.writelines(f"line {i * 7919 % 1000} of some text\n" for i in range(300))
    for command in (["wc", text], ["gzip", "-c", text], ["sort", text], ["ls", "-l", "/usr"],
                    ["bash", "-c", "for i in 1 2 3; do a=$a$i; done; echo $a | cat"], ["perl", "-e", "print join ',', sort map { $_ * 7 % 11 } 1 .. 20"],
                    ["/usr/bin/python3", "-S", "-c", "print(sorted({i * 7 % 11: str(i) for i in range(50)}.items()))"],
                    ["sqlite3", ":memory:", "create table t(a, b); insert into t values(1, 'x'), (2, 'y'); select sum(a), max(b) from t;"]):
        native = subprocess.run(command, capture_output=True)
        done = watch("", *command)
        if (done.stdout, done.returncode, done.stderr) != (native.stdout, native.returncode, native.stderr):
            fail(f"{command}: status {done.returncode}, says: {done.stderr.decode(errors='replace')[:1000]}")


pairs = [word.split("=") for word in rest if "=" in word]
with tempfile.TemporaryDirectory() as scratch:
    os.environ.pop("MALLOC_PERTURB_", None)
    os.environ["LATHE_CACHE"] = os.path.join(scratch, "cache")
    if "clean" in rest:
        check_clean(scratch)
    for program, oracle in pairs:
        check_program(os.path.realpath(program), os.path.realpath(oracle))
sys.exit(failed)
