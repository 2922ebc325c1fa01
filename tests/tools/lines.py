#!/usr/bin/env python3
"""lines.py LATHE SOURCE: which line an address is from is asked once: the process that knows lines is killed, and all that was asked before is still known."""
import os
import signal
import subprocess
import sys
import tempfile

lathe, source = (os.path.abspath(a) for a in sys.argv[1:3])

# Short lines of code, so that many begin in each 64 bytes.
PROGRAM = """\
volatile int x;
void _start(void) {
""" + "    x++;\n    x ^= 5;\n" * 200 + """\
    for (int i = 0; i < 2; i++) {
        char byte;
        long done;
        __asm__ volatile("syscall" : "=a"(done) : "a"(0), "D"(0), "S"(&byte), "d"(1) : "rcx", "r11", "memory");
    }
    __asm__ volatile("syscall" : : "a"(231), "D"(0));
}
"""


def helpers():
    """Processes that know lines and were begun by this test: they have its cache in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = open(f"/proc/{pid}/cmdline").read().split("\0")
            if "lines" in arguments[1:] and os.environ["LATHE_CACHE"] in open(f"/proc/{pid}/environ").read():
                found.append(int(pid))
        except OSError:
            continue
    return found


def main():
    with open("program.c", "w") as file:
        file.write(PROGRAM)
    subprocess.run(["gcc", "-g", "-O1", "-static", "-nostdlib", "-fno-stack-protector", "program.c", "-o", "program"], check=True)
    run = subprocess.Popen([lathe, "run", f"--tool={source}/lines.c", "--", "./program"], stdin=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    first = run.stderr.readline()
    killed = helpers()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    second = run.communicate("ab")[1]
    print(f"at first {first}afterwards {second}{len(killed)} processes killed, status {run.returncode}")
    return not (first == second and int(first.split()[0]) > 400 and len(killed) == 1 and run.returncode == 0)


with tempfile.TemporaryDirectory() as work:
    os.environ["LATHE_CACHE"] = work + "/cache"
    os.environ.pop("LATHE_TOOL", None)
    os.chdir(work)
    status = main()
    os.chdir("/")
sys.exit(status)
