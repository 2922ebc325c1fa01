#!/usr/bin/env python3
"""debug.py LATHE PROGRAM: lathe run -g, with gdb as its users have it, and by packets of our own where gdb is too polite.

PROGRAM is tests/run/guest/debugged.c, built for any guest.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE_SECONDS = int(os.environ.get("PATIENCE", 120))
GDB = shutil.which("gdb-multiarch") or shutil.which("gdb")


def fail(text, *outputs):
    print("FAIL:", text)
    for output in outputs:
        print(output)
    sys.exit(1)


def expect(condition, text, *outputs):
    if not condition:
        fail(text, *outputs)


class Guest:
    """The program under lathe run -g, which waits for its debugger at a socket, or at a port that is free."""

    def __init__(self, lathe, program, folder, arguments, port=False, **more):
        where = "0" if port else os.path.join(folder, "socket")
        self.process = subprocess.Popen([lathe, "run", "-g", where, program] + arguments, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **more)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"lathe: waiting for gdb: target remote (.*)\n", line)
        expect(found and found[1].startswith("localhost:" if port else where), "it says how to connect", line)
        self.at = ("localhost", int(found[1].split(":")[1])) if port else where

    def wait_for(self, condition, text):
        end = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            expect(time.monotonic() < end, text)
            time.sleep(0.01)

    def is_pending(self, number):
        with open(f"/proc/{self.process.pid}/status") as file:
            pending = re.findall(r"^(?:SigPnd|ShdPnd):\s*(\w+)$", file.read(), re.MULTILINE)
        return any(int(mask, 16) >> (number - 1) & 1 for mask in pending)

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def is_reading(self):
        with open(f"/proc/{self.process.pid}/syscall") as file:
            return file.read().startswith("0 ")

    def files(self):
        """What its descriptors are. One may be closed meanwhile."""
        found = []
        for name in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                found.append(os.readlink(f"/proc/{self.process.pid}/fd/{name}"))
            except FileNotFoundError:
                pass
        return found

    def end(self, status):
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        expect(self.process.returncode == status, f"it ends with {status}, not {self.process.returncode}", out, err)
        return out


class Packets:
    """gdb's side of the protocol, as far as it is needed here."""

    def __init__(self, at):
        self.socket = socket.create_connection(at) if isinstance(at, tuple) else socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_SECONDS)
        if not isinstance(at, tuple):
            self.socket.connect(at)
        self.left = b""

    def send(self, text):
        data = text.encode("latin-1")
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xff))

    def receive(self):
        while True:
            found = re.search(rb"\$([^#]*)#..", self.left, re.DOTALL)
            if found:
                self.left = self.left[found.end():]
                self.socket.sendall(b"+")
                return found.group(1).decode("latin-1")
            more = self.socket.recv(65536)
            expect(more, "the connection stays")
            self.left += more

    def ask(self, text):
        self.send(text)
        return self.receive()


class Test:
    def __init__(self, lathe, program, folder):
        self.lathe, self.program, self.folder = lathe, program, folder

    def guest(self, *arguments, **more):
        return Guest(self.lathe, self.program, self.folder, list(arguments), **more)

    def gdb(self, guest, commands):
        script = os.path.join(self.folder, "script")
        first = ["set pagination off", "set confirm off", f"target remote {guest.at}"]
        with open(script, "w") as file:
            file.write("\n".join(first + commands) + "\n")
        run = subprocess.run([GDB, "-q", "-nx", "-batch", "-x", script, self.program], capture_output=True, text=True,
                             timeout=PATIENCE_SECONDS)
        return run.stdout + run.stderr

    # ------------------------------------------------------------------------------------------------------- with gdb

    def calls(self):
        guest = self.guest("calls")
        text = self.gdb(guest, ["break leaf", "continue", "backtrace", "print counter", "continue", "print a", "finish", "print product",
                                "stepi", "stepi", "print $pc != 0", "delete", "set var counter = 100", "print leaf(2, 5)", "continue"])
        for pattern in (r"Breakpoint 1, leaf \(a=.*0, b=.*2\)", r"#1 .* calls \(\)", r"#2 .* main \(", r"\$1 = 0\n", r"\$2 = 1\n", r"Value returned is \$3 = 2\n",
                        r"\$4 = 2.25\n", r"\$5 = 1\n", r"\$6 = 110\n", r"exited with code 07"):
            expect(re.search(pattern, text), f"calls: {pattern}", text)
        expect(guest.end(7) == "128 11.3906\n", "what gdb changes, the program has")

    def watches(self):
        guest = self.guest("calls")
        text = self.gdb(guest, ["break leaf", "continue", "delete", "watch counter", "continue", "continue", "info watchpoints", "delete", "continue"])
        for pattern in (r"watchpoint 2: counter", r"Old value = 0\nNew value = 2\n", r"Old value = 2\nNew value = 6\n", r"already hit 2 times"):
            expect(re.search(pattern, text), f"watches: {pattern}", text)
        guest.end(7)

    def steps(self):
        """Instruction by instruction through a function and back: gdb's own idea of where it leads."""
        guest = self.guest("calls")
        text = self.gdb(guest, ["break leaf", "continue", "delete", "set $count = 0", "set $caller = 0", "up", "set $caller = $pc", "down",
                                "while $pc != $caller\nstepi\nset $count = $count + 1\nend", "print $count < 40", "print counter",
                                "next", "next", "continue"])
        expect(re.search(r"\$1 = 1\n", text) and re.search(r"\$2 = 0\n", text), "steps", text)
        guest.end(7)

    def threads(self):
        guest = self.guest("threads")
        text = self.gdb(guest, ["break leaf", "continue", "info threads", "thread apply all -q backtrace 1", "next", "stepi", "thread 3", "stepi", "thread 1",
                                "set var stop = 1", "delete", "continue"])
        expect(len(re.findall(r"^[* ] +\d+ +Thread \d+", text, re.MULTILINE)) == 4, "threads: there are four", text)
        expect("exited with code 07" in text, "threads: it ends", text)
        expect(guest.end(7) == "joined\n", "threads: all are joined")

    def signals(self):
        guest = self.guest("signals")
        text = self.gdb(guest, ["continue", "continue", "print $_siginfo.si_signo", "break handler", "continue", "backtrace", "delete", "continue", "signal 0"])
        for pattern in (r"received signal SIG64", r"received signal SIGUSR1", r"\$1 = 10\n", r"Breakpoint 1, handler \(sig=10\)", r"<signal handler called>", r"exited with code 07"):
            expect(re.search(pattern, text), f"signals: {pattern}", text)
        expect(guest.end(7) == "10\n", "signals: the second one was taken away")

    def faults(self):
        guest = self.guest("faults")
        text = self.gdb(guest, ["continue", "backtrace 1", "continue"])
        for pattern in (r"received signal SIGSEGV", r"#0 .* faults \(\)", r"Program terminated with signal SIGSEGV"):
            expect(re.search(pattern, text), f"faults: {pattern}", text)
        guest.end(-signal.SIGSEGV)

    def forks(self):
        guest = self.guest("forks")
        text = self.gdb(guest, ["break leaf", "continue", "print a", "continue"])
        expect(re.search(r"\$1 = 1\n", text), "forks: only the parent stops", text)
        expect(guest.end(7) == "9 1\n", "forks: the child goes on by itself", text)

    def spawns(self):
        """A child that has the program's memory goes on at breakpoints, and they are there again behind it."""
        guest = self.guest("spawns")
        text = self.gdb(guest, ["break leaf", "continue", "break execve", "continue", "info threads", "continue"])
        expect(re.search(r"Breakpoint 1, leaf", text.split("Breakpoint 1, leaf", 1)[1]), "spawns: the parent's stop", text)
        expect("exited with code 07" in text and "New Thread" not in text, "spawns: only the parent", text)
        expect(guest.end(7) == "9 2\n", "spawns: the child goes on by itself", text)

    def execs(self):
        guest = self.guest("execs")
        text = self.gdb(guest, ["break main", "continue", "break leaf", "continue", "continue", "print a", "delete", "continue"])
        expect(re.search(r"is executing new program", text) and re.search(r"Breakpoint 2, leaf|Breakpoint \d.*, leaf", text), "execs", text)
        expect(guest.end(7) == "20 11.3906\n", "execs: the new program runs to its end", text)

    # --------------------------------------------------------------------------------------------------- with packets

    def interrupts(self):
        """A loop without calls, and a system call that waits."""
        for what, stdin, out in (("threads", subprocess.DEVNULL, None), ("waits", subprocess.PIPE, "read\n")):
            guest = self.guest(what, stdin=stdin)
            gdb = Packets(guest.at)
            expect(gdb.ask("?").startswith("T05thread:"), "a stop at the beginning")
            gdb.send("c")
            guest.wait_for(lambda: guest.is_reading() if out else guest.threads() == 4, f"interrupts: {what}: it is there")
            for _ in range(5):
                gdb.socket.sendall(b"\x03")
                stopped = gdb.receive()
                expect(stopped.startswith("T02thread:"), f"interrupts: {what}", stopped)
                gdb.send("c")
            if out is None:
                gdb.socket.sendall(b"\x03")
                gdb.receive()
                gdb.send("k")
                guest.end(-signal.SIGKILL)
            else:
                guest.process.stdin.write("x")
                guest.process.stdin.flush()
                expect(gdb.receive() == "W07", "interrupts: it ends")
                expect(guest.end(7) == out, "interrupts: the call waits on")

    def patience(self):
        """A signal that comes while the program is stopped waits for the debugger, however long that takes."""
        guest = self.guest("waits", stdin=subprocess.PIPE)
        gdb = Packets(guest.at)
        gdb.ask("?")
        guest.process.send_signal(signal.SIGTERM)
        guest.wait_for(lambda: not guest.is_pending(signal.SIGTERM), "patience: the signal has come")
        with open(f"/proc/{guest.process.pid}/timers") as file:
            expect(not file.read(), "patience: no timer ends the program meanwhile")
        gdb.send("c")
        expect(gdb.receive().startswith("T0fthread:"), "patience: the debugger is told of the signal")
        gdb.send("C0f")
        expect(gdb.receive() == "X0f", "patience: it ends the program")
        guest.end(-signal.SIGTERM)

    def opens(self):
        """gdb keeps the files of all libraries open. Those that it leaves behind are closed."""
        guest = self.guest("waits", stdin=subprocess.PIPE)
        gdb = Packets(guest.at)
        before = len(guest.files())
        name = self.program.encode().hex()
        for _ in range(200):
            answer = gdb.ask(f"vFile:open:{name},0,1c0")
            expect(re.fullmatch("F[0-9a-f]+", answer), "opens: many files", answer)
        expect(gdb.ask("vFile:close:7") == "F0" and gdb.ask("vFile:close:7").startswith("F-1"), "opens: one is closed once")
        expect(gdb.ask("D") == "OK", "opens: it detaches")
        guest.wait_for(lambda: len(guest.files()) < before, "opens: all are closed, with the connection")
        guest.process.stdin.write("x")
        guest.process.stdin.flush()
        expect(guest.end(7) == "read\n", "opens: the program goes on")

    def registers(self):
        """All of them, written as they were read, and with all bits set, which not every register can have."""
        guest = self.guest("calls")
        gdb = Packets(guest.at)
        before = gdb.ask("g")
        expect(gdb.ask("G" + before) == "OK" and gdb.ask("g") == before, "registers: written as they were")
        for number in range(256):
            was = gdb.ask(f"p{number:x}")
            if was == "E01":
                break
            answer = gdb.ask(f"P{number:x}={'f' * len(was)}")
            expect(answer in ("OK", "E01"), f"registers: {number}", answer)
            gdb.ask(f"P{number:x}={was}")
            expect(gdb.ask(f"p{number:x}") == was, f"registers: {number} as it was")
        gdb.send("c")
        expect(gdb.receive() == "W07", "registers: the program goes on")
        expect(guest.end(7) == "20 11.3906\n", "registers: what the program computes")

    def interrupts_alone(self):
        """One thread goes on, any of them, and the debugger interrupts: another one, which waits, may be the one that hears it."""
        guest = self.guest("threads")
        gdb = Packets(guest.at)
        gdb.ask("?")
        gdb.send("c")
        guest.wait_for(lambda: guest.threads() == 4, "interrupts_alone: all threads are there")
        gdb.socket.sendall(b"\x03")
        expect(gdb.receive().startswith("T02thread:"), "interrupts_alone: the first stop")
        for thread in 2 * gdb.ask("qfThreadInfo")[1:].split(","):
            gdb.send(f"vCont;c:{thread}")
            gdb.socket.sendall(b"\x03")
            expect(gdb.receive().startswith("T02thread:"), f"interrupts_alone: {thread}")
        gdb.send("k")
        guest.end(-signal.SIGKILL)

    def given(self):
        """Signals that only the debugger gives: to a call that waits, after a step, and to a thread that is not the one that has stopped."""
        guest = self.guest("waits", stdin=subprocess.PIPE)
        gdb = Packets(guest.at)
        gdb.ask("?")
        gdb.send("c")
        guest.wait_for(lambda: guest.is_reading(), "given: it waits")
        gdb.socket.sendall(b"\x03")
        expect(gdb.receive().startswith("T02"), "given: a stop in a call")
        gdb.send("C1e")
        guest.process.stdin.write("x")
        guest.process.stdin.flush()
        expect(gdb.receive() == "W07", "given: it goes on")
        expect(guest.end(7) == "read\n10\n", "given: the handler has run")
        guest = self.guest("calls")
        gdb = Packets(guest.at)
        expect(gdb.ask("s").startswith("T05"), "given: a step")
        expect(gdb.ask("C0f") == "X0f", "given: it ends the program")
        guest.end(-signal.SIGTERM)
        guest = self.guest("threads")
        gdb = Packets(guest.at)
        gdb.ask("?")
        gdb.send("c")
        guest.wait_for(lambda: guest.threads() == 4, "given: all threads are there")
        gdb.socket.sendall(b"\x03")
        stopped = gdb.receive().split(":")[1].rstrip(";")
        other = next(thread for thread in gdb.ask("qfThreadInfo")[1:].split(",") if thread != stopped)
        expect(gdb.ask(f"vCont;C0f:{other};c") == "X0f", "given: by another thread")
        guest.end(-signal.SIGTERM)

    def ends_later(self):
        """A signal without a handler ends the program when the debugger has gone."""
        guest = self.guest("waits", stdin=subprocess.PIPE)
        gdb = Packets(guest.at)
        expect(gdb.ask("D") == "OK", "ends_later: it detaches")
        guest.process.send_signal(signal.SIGTERM)
        guest.end(-signal.SIGTERM)

    def mistakes(self):
        """Packets that are damaged, unknown or too large have an answer, and a debugger that goes away leaves the program alone."""
        guest = self.guest("calls")
        gdb = Packets(guest.at)
        gdb.socket.sendall(b"garbage$?#00")  # a wrong sum: to be sent again
        expect(gdb.ask("?").startswith("T05"), "mistakes: the right one")
        for text in ("", "vNothing", "qNothing", "Z9,0,0", "Hq", "!", "vFile:open:", "vFile:pread:77,10,0", "qXfer:features:read:none:0,10"):
            gdb.ask(text)
        for text in ("p7fffffff", "P7fffffff=00", "mffffffffffffff00,10", "M10,4:00000000", "G00", "m0,ffffffffffffffff", "Z0,10,1", "T0", "z0,10,1"):
            answer = gdb.ask(text)
            expect(answer.startswith("E") or answer == "OK", f"mistakes: {text}", answer)
        for text in ("z2,0,0", "z2,0,8", "Z2,0,0", "Z2,0,1000", "vCont;c:7fffffff", "vCont;x"):
            answer = gdb.ask(text)
            expect(answer.startswith("E"), f"mistakes: {text}", answer)
        gdb.socket.sendall(b"$" + b"m" * 100000 + b"#00")
        gdb.ask("?")
        gdb.socket.close()
        expect(guest.end(7) == "20 11.3906\n", "mistakes: the program goes on")

    def lost(self):
        """A debugger that goes away while the program runs: the connection is closed at once."""
        for port in (False, True):
            guest = self.guest("waits", port=port, stdin=subprocess.PIPE)
            gdb = Packets(guest.at)
            gdb.ask("?")
            gdb.send("c")
            gdb.socket.recv(1)  # it has come
            gdb.socket.close()
            guest.wait_for(lambda: not any("socket" in file for file in guest.files()), "lost: the connection is closed")
            guest.process.stdin.write("x")
            guest.process.stdin.flush()
            expect(guest.end(7) == "read\n", "lost: the program goes on")
        for last in ("D", None):  # while the program is stopped for a signal, which it gets then
            guest = self.guest("faults")
            gdb = Packets(guest.at)
            gdb.ask("?")
            gdb.send("c")
            expect(gdb.receive().startswith("T0b"), "lost: a fault")
            guest.process.send_signal(signal.SIGTERM)
            expect(gdb.ask("vCont;c").startswith("T0f"), "lost: a signal")
            if last:
                gdb.ask(last)
            gdb.socket.close()
            guest.end(-signal.SIGTERM)

    def started(self):
        """gdb that lathe run starts itself."""
        run = subprocess.run([self.lathe, "run", "--gdb", self.program, "calls"], input="break leaf\ncontinue\nprint b\ndelete\ncontinue\nquit\n",
                             capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        expect("$1 = 2\n" in run.stdout and "exited with code 07" in run.stdout, "started", run.stdout, run.stderr)

    def refused(self):
        for options in (["-g", "no-port"], ["-g", "70000"], ["-g", "/no/such/folder/socket"], ["-g", "1", "--tier=opt"]):
            run = subprocess.run([self.lathe, "run"] + options + [self.program], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            expect(run.returncode in (1, 2) and run.stderr.startswith("lathe"), f"refused: {options}", run.stderr)


def main():
    lathe, program = (os.path.realpath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="debug-") as folder:
        os.environ["LATHE_CACHE"] = os.path.join(folder, "cache")
        test = Test(lathe, program, folder)
        names = sys.argv[3:] or [name for name in vars(Test) if not name.startswith("_") and name not in ("guest", "gdb")]
        for name in names:
            getattr(test, name)()
            print(name, "ok", flush=True)


if __name__ == "__main__":
    main()
