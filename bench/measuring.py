"""measuring.py: what the benchmarks of `lathe run` share: runs of commands with their times, priority, means, and bars."""
import ctypes
import hashlib
import math
import os
import subprocess
import tempfile
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
HIGHEST_PRIORITY = -19
DEBIAN_PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"


def adopt_orphans():
    """Servers are nobody's children; from now on we are told what they took."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Run:
    """One run of a command: CPU and wall seconds, status, a digest of its output, and memory if it was watched.

    CPU seconds are those of all processes that it starts. This process must have adopted orphans, and have no other
    children.
    """

    def __init__(self, argv, env, watch=False):
        self.peak = {}  # MiB by role
        with tempfile.TemporaryFile() as out:
            start = time.monotonic()
            process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
            if watch:
                self.done = threading.Event()
                watcher = threading.Thread(target=self.watch, args=(process.pid,))
                watcher.start()
            self.status, self.cpu, self.server_cpu = None, 0.0, 0.0
            self.reap(process.pid)
            self.wall = time.monotonic() - start
            self.reap_others()
            process.returncode = 0
            if watch:
                self.done.set()
                watcher.join()
            out.seek(0)
            self.digest = hashlib.sha256(out.read()).hexdigest()

    def reap(self, main):
        while self.status is None:
            pid, status, usage = os.wait4(-1, 0)
            self.cpu += usage.ru_utime + usage.ru_stime
            if pid == main:
                self.status = status

    def reap_others(self):
        """The server ends when its client has; being the reaper of orphans, we are told what it took."""
        while True:
            try:
                _, _, usage = os.wait4(-1, 0)
            except ChildProcessError:
                return
            self.server_cpu += usage.ru_utime + usage.ru_stime
            self.cpu += usage.ru_utime + usage.ru_stime

    def watch(self, main):
        children = f"/proc/self/task/{os.getpid()}/children"
        while not self.done.wait(0.005):
            try:
                with open(children) as f:
                    pids = [int(p) for p in f.read().split()]
            except OSError:
                continue
            for pid in pids:
                self.note(pid, "main" if pid == main else "server")

    def note(self, pid, role):
        try:
            with open(f"/proc/{pid}/status") as f:
                for line in f:
                    if line.startswith("VmHWM:"):
                        self.peak[role] = max(self.peak.get(role, 0), int(line.split()[1]) / 1024)
        except OSError:
            pass

    def same_as(self, other):
        return (self.status, self.digest) == (other.status, other.digest)


def raise_priority():
    """This process and what it starts go first; False: we may not. Groups of processes would each get the same share, whatever their priority."""
    try:
        os.nice(HIGHEST_PRIORITY)
        with open("/proc/sys/kernel/sched_autogroup_enabled", "w") as f:
            f.write("0")
    except OSError:
        return False
    return True


def geomean(values):
    values = [v for v in values if v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def print_bars(bars):
    """Bars are (what, seen, allowed, at least?); the number of those missed."""
    missed = 0
    for what, seen, allowed, at_least in bars:
        good = seen >= allowed if at_least else seen <= allowed
        missed += not good
        bound = f"({'at least' if at_least else 'at most'} {allowed:.2f})"
        print(f"{'ok    ' if good else 'MISSED'} {what}: {seen:.2f} {bound}")
    return missed
