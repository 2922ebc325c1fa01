#!/usr/bin/env python3
"""dying.py LATHE ENDS SOURCE: a tool's results come before the program dies of a signal, and its parent sees the status that it would see without Lathe. Tools that
fault or do not return are told from the program, and do not keep it from dying."""
import glob
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

# Who starts the tests in the background has them ignore these, and programs would inherit that.
for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(sig, signal.SIG_DFL)

lathe, ends, here = (os.path.abspath(a) for a in sys.argv[1:4])
failed = False


def fail(text):
    global failed
    print("FAIL:", text)
    failed = True


PATIENCE_S = 100


def run(command, sig=None, prepare=None, until="ready", until_file=None, env=None):
    """The wait status of a command, which gets a signal once it has printed a line, or a file is there, and its output."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare, env=env)
    first = ""
    while until_file and process.poll() is None and not os.path.exists(until_file):
        time.sleep(0.01)
    while sig and not until_file and until not in first:
        line = process.stdout.readline()
        if not line:
            break
        first += line.decode()
    if sig:
        os.kill(process.pid, sig)
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        state = open(f"/proc/{process.pid}/stat").read().split()[2]
        process.kill()
        out, err = process.communicate()
        fail(f"{command}, signal {sig}: no end after {PATIENCE_S} s, in state {state}: {err.decode()}")
    return process.returncode, first + out.decode(), err.decode()


def watched(tool, *arguments, tier="auto"):
    return [lathe, "run", "--tier=" + tier, "--tool=" + tool, "--", ends, *arguments]


def recorded():
    text = "".join(sorted(open(name).read() for name in glob.glob("record.*")))
    for name in glob.glob("record.*"):
        os.unlink(name)
    return text


def check_signals():
    recording = here + "/recording.c"
    for tier in "quick", "opt", "auto":
        for how, sig in (("pause", signal.SIGTERM), ("pause", signal.SIGSEGV), ("loop", signal.SIGINT),
                         ("loop", signal.SIGQUIT), ("waiting", signal.SIGUSR1), ("waiting", signal.SIGRTMIN)):
            expected = run([ends, how], sig)[:2]
            status, out, err = run(watched(recording, how, tier=tier), sig)
            if (status, out) != expected:
                fail(f"{how}, {sig}, tier {tier}: {status} {out!r} instead of {expected}")
            if recorded() != "begin ends\nend\n" or err:
                fail(f"{how}, {sig}, tier {tier}: the tool has not come to its end: {err}")
        for how in "abort", "8", "13", "actions":
            ignores = lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN if how == "actions" else signal.SIG_DFL)
            expected = run([ends, how], prepare=ignores)
            got = run(watched(recording, how, tier=tier), prepare=ignores)
            if got != expected:
                fail(f"{how}, tier {tier}: {got} instead of {expected}")
            if recorded() != "begin ends\nend\n":
                fail(f"{how}, tier {tier}: the tool has not come to its end")


def check_ended_threads():
    """What was told until a thread ended is in the file then, whatever happens later."""
    run(watched(here + "/recording.c", "ended"), signal.SIGKILL, until="ended")
    text = recorded()
    if "begin ends\n" not in text or "thread ends\n" not in text or "end\n" in text.replace("thread ends\n", ""):
        fail(f"killed after the end of a thread: {text!r}")


def check_ignored():
    """What a program is told to ignore from its start does not end it."""
    ignores = lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)
    command = watched(here + "/recording.c", "15")
    expected, got = run([ends, "15"], prepare=ignores), run(command, prepare=ignores)
    if got != expected:
        fail(f"ignored: {got} instead of {expected}")
    recorded()


def tool(name, text):
    with open(name, "w") as out:
        out.write("#include <lathe/tool.h>\n" + text)
    return os.path.abspath(name)


def expect_failure(name, text, *words):
    for tier in "quick", "opt":
        status, out, err = run(watched(tool(name, text), "exit", tier=tier))
        if status != 127 or not all(w in err for w in words):
            fail(f"{name}, tier {tier}: status {status}, {err!r} does not say {words}")


def check_faults():
    head = "static int zero;\n"
    use = "LATHE_HOOKS(LATHE_ON(LATHE_START, broken), LATHE_ON(LATHE_END, end));"
    end = 'static void end(void) { lathe_print("the end\\n"); }\n'
    expect_failure("access.c", end + "static void broken(void) { *(volatile int *)8 = 1; }\n" + use,
                   "tool's function broken has failed", "memory", "0x8")
    expect_failure("divide.c", end + head + "static void broken(void) { volatile int n = 7; zero = n / *(volatile int *)&zero; }\n" + use,
                   "tool's function broken has failed", "division")
    expect_failure("inside.c", end + 'static void broken(void) { lathe_print("%s", (char *)16); }\n' + use,
                   "tool's function broken has failed", "call of lathe/tool.h")
    expect_failure("deep.c", end + "__attribute__((noinline)) static int down(volatile int *up) { volatile int room[1000]; room[3] = up[3]; return room[3] ? down(room) + room[7] : 0; }\n"
                   "static void broken(void) { volatile int first[4] = {1, 1, 1, 1}; down(first); }\n" + use, "tool's function down has failed")
    expect_failure("visit.c", end + "static void broken(uint64_t pc) { if (pc) *(volatile int *)8 = 1; }\n"
                   "LATHE_HOOKS(LATHE_ON(LATHE_SYSCALL, broken, {LATHE_NUMBER}), LATHE_ON(LATHE_END, end));",
                   "tool's function broken has failed")
    expect_failure("freed.c", end + "static void broken(void) { void *p = lathe_alloc(3); lathe_free(p); lathe_free(p); }\n" + use, "lathe_free", "free already")
    expect_failure("twice.c", end + "static LatheLock lock;\nstatic void broken(void) { lathe_lock(&lock); lathe_lock(&lock); }\n" + use, "holds already")
    status, out, err = run(watched(tool("keeps.c", 'static void broken(void) { LatheFile *f = lathe_open("kept"); lathe_fprint(f, "kept\\n"); lathe_write(f, (void *)16, 3); }\n'
                                        "LATHE_HOOKS(LATHE_ON(LATHE_START, broken));"), "exit"))
    if status != 127 or open("kept").read() != "kept\n":
        fail(f"a file of a tool that faults: {status} {err}")


def check_loops():
    """The program is told to end while the tool does not return."""
    call = "static volatile int on = 1;\nstatic void turn(uint64_t n) { if (!strcmp(lathe_syscall_name(n), \"write\")) while (on) %s; }\n"
    hooks = "LATHE_HOOKS(LATHE_ON(LATHE_SYSCALL_DONE, turn, {LATHE_NUMBER}));"
    for name, text in ("loop.c", call % ""), ("inside.c", call % "lathe_nanoseconds()"):
        status, out, err = run(watched(tool(name, text + hooks), "pause"), signal.SIGTERM, until="ready")
        if status != -signal.SIGTERM or "tool's function turn does not return" not in err:
            fail(f"{name}: {status} {err}")
    call = "static volatile int on = 1;\nstatic void turn(uint64_t first) { if (first == 1) lathe_close(lathe_open(\"turning\")); while (on) %s; }\n"
    hooks = "LATHE_HOOKS(LATHE_WHERE(LATHE_FUNCTION, turn, ((LatheWhere){.symbol = \"nine\"}), {LATHE_ARGUMENT, 0}));"
    for name, text in ("function.c", call % ""), ("function_inside.c", call % "lathe_nanoseconds()"):
        status, out, err = run(watched(tool(name, text + hooks), "nine"), signal.SIGTERM, until_file="turning")
        os.unlink("turning")
        if status != -signal.SIGTERM or "tool's function turn does not return" not in err:
            fail(f"{name}: {status} {err}")


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    os.environ["LATHE_CACHE"] = work + "/cache"
    os.environ.pop("LATHE_TOOL", None)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    check_signals()
    check_ended_threads()
    check_ignored()
    check_faults()
    check_loops()
print("failed" if failed else "ok")
sys.exit(failed)
