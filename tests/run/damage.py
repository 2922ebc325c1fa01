#!/usr/bin/env python3
"""damage.py LATHE PROGRAM ROUNDS: programs whose server says something else than it should: between them and a daemon is a process that changes, drops or adds
bytes, or stops in the middle of a message. Each program has to do what it does natively, and to say what was wrong at most once.

PROGRAM is tests/run/guest/pauses.c."""
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading

ARGUMENTS = ["0", "24"]
PATIENCE_SECONDS = int(os.environ.get("PATIENCE", 120))


class Proxy:
    """Hands bytes on between the clients of a socket and a daemon, and does harm once, when so many bytes of the daemon have passed."""

    def __init__(self, path, daemon, seed):
        self.daemon = daemon
        self.random = random.Random(seed)
        self.left = self.random.choice([1, 40, 400, 20000, 100000])
        self.left = self.random.randrange(self.left)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.ends = []
        self.harmed = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.daemon)
            self.ends += [client, server]
            threading.Thread(target=self.pass_on, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, True), daemon=True).start()

    def pass_on(self, from_, to, of_daemon):
        try:
            while data := from_.recv(1 << 16):
                to.sendall(self.harm(data, to) if of_daemon else data)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def harm(self, data, to):
        self.left -= len(data)
        if self.left >= 0 or self.harmed:
            return data
        self.harmed = True
        at = min(len(data) + self.left, len(data) - 1)
        at = max(at, 0)
        kind = self.random.randrange(5)
        if kind == 0:  # one byte
            return data[:at] + bytes([data[at] ^ self.random.randrange(1, 256)]) + data[at + 1:]
        if kind == 1:  # all that follows
            return data[:at] + self.random.randbytes(len(data) - at)
        if kind == 2:  # more than there was
            return data[:at] + self.random.randbytes(self.random.randrange(1, 100)) + data[at:]
        if kind == 3:  # the same twice
            return data + data
        to.sendall(data[:at])  # the end
        to.shutdown(socket.SHUT_RDWR)
        return b""

    def close(self):
        for end in [self.listener] + self.ends:
            end.close()


def main():
    lathe, program, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    expected = subprocess.run([program] + ARGUMENTS, stdout=subprocess.PIPE)
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LATHE_")}
        environment.update(XDG_RUNTIME_DIR=folder, HOME=folder)
        subprocess.run([lathe, "serve"], env=environment, check=True, stdout=subprocess.DEVNULL)
        try:
            harmed = run_all(lathe, program, rounds, expected, folder, environment)
        finally:
            subprocess.run([lathe, "serve", "--stop"], env=environment, stdout=subprocess.DEVNULL)
    print(f"{rounds} runs, {harmed} with harm")
    return 0 if harmed * 2 > rounds else 1


def run_all(lathe, program, rounds, expected, folder, environment):
    runtime = os.path.join(folder, "lathe")
    daemon = next(os.path.join(runtime, name) for name in os.listdir(runtime) if name.endswith(".socket"))
    harmed = 0
    for seed in range(rounds):
        path = os.path.join(folder, f"proxy{seed}")
        proxy = Proxy(path, daemon, seed)
        ran = subprocess.run([lathe, "run", "--tier=opt", "--cache=none", f"--server={path}", program] + ARGUMENTS, env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS)
        proxy.close()
        harmed += proxy.harmed
        if (ran.returncode, ran.stdout) != (expected.returncode, expected.stdout) or ran.stderr.count(b"\n") > 1:
            sys.exit(f"FAIL: seed {seed}: exit status {ran.returncode}\n{ran.stdout.decode()}{ran.stderr.decode()}")
    return harmed


if __name__ == "__main__":
    sys.exit(main())
