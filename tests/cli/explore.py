#!/usr/bin/env python3
"""explore.py LATHE PROGRAM...: what `lathe explore` shows of programs of all guests for all hosts: the code is that of `lathe lift`, what was made of an instruction is known by its
number, and each pass leads from one text to the next. And its server: it gives that to whoever has its address, and nothing to others."""
import concurrent.futures
import http.client
import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
from expecting import expect, fail, finish
from explored import Server, page_data

lathe, programs = os.path.abspath(sys.argv[1]), [os.path.abspath(p) for p in sys.argv[2:]]
TARGETS = ("x86_64", "aarch64", "riscv64")
FUNCTIONS = ("mix", "choose", "main")


def run(*arguments):
    return subprocess.run([lathe, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


# ------------------------------------------------------------------------------------------------------------------ code

def code_of(assembly):
    """Instructions and their operands; labels and comments may be others. Numbers of labels depend on what else is in the file."""
    lines = (re.sub(r"\s+(#|//)\s.*", "", line) for line in assembly)
    lines = [re.sub(r"\.L\w+", ".L", line).split() for line in lines if re.match(r"\s+[a-z]", line)]
    return [" ".join(line) for line in lines]


def check_code(program, function, target, shown):
    """Debug locations do not change what is generated."""
    plain = run("lift", program, "--function=" + function, "--target=" + target, "--asm").splitlines()
    expect(f"code of {function} for {target}", code_of(shown["host"]["text"]), code_of(plain))


def check_links(what, shown):
    numbers = {insn[0] for block in shown["blocks"] for insn in block["insns"]}
    expect(f"{what}: numbers of instructions", len(numbers), shown["guest_instructions"])
    for text in ("ir", "host"):
        known = set(shown[text]["from"])
        if not known - {0} <= numbers:
            fail(f"{what}: lines of {text} are of instructions that are not there")
        # Most of what is made is of some instruction, and most instructions have become something.
        made = [f for f, line in zip(shown[text]["from"], shown[text]["text"]) if line.startswith((" ", "\t"))]
        if made.count(0) > len(made) // 3 or len(known & numbers) < len(numbers) // 3:
            fail(f"{what}: {made.count(0)} of {len(made)} lines of {text} are of no instruction, {len(known & numbers)} of {len(numbers)} instructions have lines")


def check_steps(what, shown):
    first, last = shown["steps"][0], shown["steps"][-1]
    expect(f"{what}: first step", first["pass"], "lifted")
    for step in shown["steps"]:
        text = [shown["ir"]["text"][i] for i in step["lines"]]
        if not text[0].startswith("define ") or text[-1] != "}":
            fail(f"{what}: after {step['pass']} it is no function: {text[0]} … {text[-1]}")
    for before, after in zip(shown["steps"], shown["steps"][1:]):
        if before["lines"] == after["lines"]:
            fail(f"{what}: {after['pass']} has changed nothing")
    if len(shown["steps"]) < 4 or len(last["lines"]) >= len(first["lines"]):
        fail(f"{what}: {len(shown['steps'])} steps from {len(first['lines'])} lines to {len(last['lines'])}")


def check_loop(what, shown):
    """The loop of `mix` multiplies or shifts; host code in it is linked with guest code in it."""
    blocks = shown["blocks"]
    loops = [b for b in blocks if any(int(n, 16) <= int(b["at"], 16) for n in b["next"])]
    inside = {insn[0] for b in loops for insn in b["insns"]}
    if not loops or not inside & set(shown["host"]["from"]):
        fail(f"{what}: {len(loops)} loops, and no host code of them")


def check_page(folder, program):
    page = folder + "/page.html"
    run("explore", "--html=" + page, *("--function=" + f for f in FUNCTIONS), *("--target=" + t for t in TARGETS), program)
    data = page_data(page)
    names = {f[2]: f[0] for f in data["file"]["functions"]}
    expect("functions in the page", len(data["functions"]), len(FUNCTIONS) * len(TARGETS))
    for target in TARGETS:
        for function in FUNCTIONS:
            shown = data["functions"][f"{names[function]} {target} full"]
            what = f"{os.path.basename(program)}, {function} for {target}"
            check_links(what, shown)
            check_code(program, function, target, shown)
            check_steps(what, shown)
        check_loop(f"{os.path.basename(program)} for {target}", data["functions"][f"{names['mix']} {target} full"])


def check_counts(folder, program):
    """The loop was executed 4096 times for each round."""
    hot, stats, page = folder + "/hot.data", folder + "/stats", folder + "/hot.html"
    with open(stats, "w", encoding="utf-8") as f:
        subprocess.run([lathe, "run", "--stats=json", "--tool=hot,data=" + hot, "--", program, "20"], stdout=subprocess.DEVNULL, stderr=f, check=True)
    run("explore", "--hot=" + hot, "--stats=" + stats, "--function=mix", "--html=" + page, program)
    data = page_data(page)
    cost, name, at = max((f[3], f[2], f[0]) for f in data["file"]["functions"])
    expect("the function that was executed most", name, "mix")
    if not data["file"]["executed"] // 2 < cost <= data["file"]["executed"]:
        fail(f"mix has {cost} of {data['file']['executed']} instructions")
    times = [insn[3] for block in data["functions"][at + " own full"]["blocks"] for insn in block["insns"]]
    expect("rounds of the loop", max(times), 20 * 4096)
    if data["file"]["stats"]["time_us"] <= 0:
        fail("the statistics are not in the page")


# ---------------------------------------------------------------------------------------------------------------- server

def ask(server, path, method="GET", host=None, body=None):
    """(status, text, headers)"""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{server.port}")
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def check_answers(server, at):
    root = f"/{server.token}/"
    status, page, headers = ask(server, root)
    expect("the page", (status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
    for header, value in (("Content-Security-Policy", "default-src 'none'"), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")):
        if value not in headers[header]:
            fail(f"{header} is {headers[header]}")
    for part in re.findall(r'(?:src|href)="([^"]*)"', page):
        expect(part, ask(server, root + part)[0], 200)
    expect("HEAD", ask(server, root, "HEAD")[:2], (200, ""))
    expect("by name", ask(server, root, host=f"localhost:{server.port}")[0], 200)
    file = json.loads(ask(server, root + "file.json")[1])
    expect("targets", sorted(file["targets"]), sorted(("own", *TARGETS)))
    for target in file["targets"]:
        for opt in file["opts"]:
            status, text, _ = ask(server, f"{root}function.json?at={at}&target={target}&opt={opt}")
            expect(f"mix for {target}, {opt}", (status, json.loads(text)["target"], json.loads(text)["opt"]), (200, target, opt))


def check_refusals(server, at):
    root, good = f"/{server.token}/", f"at={at}&target=own&opt=full"
    wrong = ("0" if server.token[0] != "0" else "1") + server.token[1:]
    for path in ("/", "/" + wrong + "/", "/" + server.token, "/" + server.token[:-1] + "/", f"//{server.token}/", "/favicon.ico", "/../etc/passwd", f"/{wrong}/file.json"):
        expect(path, ask(server, path)[0], 403)
    for host in ("", "evil.example", f"evil.example:{server.port}", f"127.0.0.1.evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}"):
        expect(f"host {host!r}", ask(server, root, host=host)[0], 403 if host else ask(server, root, host=host)[0])
        if ask(server, root, host=host)[0] == 200:
            fail(f"host {host!r} is served")
    for path in ("../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "explore.c", "explore.js/", "x" * 4000):
        expect(path[:40], ask(server, root + path)[0], 404)
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        expect(method, ask(server, root, method, body=b"x" if method == "POST" else None)[0], 405)
    for question in ("", "at=", good.replace(at, "0x"), good.replace(at, "-1"), good.replace(at, "0x" + "f" * 17), good.replace(at, "0x1"), good.replace("own", "vax"), good.replace("full", "fast"),
                     good.replace("own", ""), "at=%ff&target=%00"):
        status, text, _ = ask(server, f"{root}function.json?{question}")
        expect(question, (status, list(json.loads(text))), (400, ["error"]))


def check_noise(server):
    """What is no request, or none that comes to its end."""
    for noise in (b"", b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 100000, os.urandom(5000) + b"\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            try:
                s.sendall(noise)
                s.shutdown(socket.SHUT_WR)
                s.settimeout(60)
                while s.recv(4096):
                    pass
            except OSError:
                pass


def check_server(program):
    with Server(lathe, "explore", program) as server:
        at = {f[2]: f[0] for f in json.loads(ask(server, f"/{server.token}/file.json")[1])["functions"]}["mix"]
        check_answers(server, at)
        check_refusals(server, at)
        check_noise(server)
        path = f"/{server.token}/function.json?at={at}&target=own&opt=full"
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = [answer[0] for answer in pool.map(lambda _: ask(server, path), range(24))]
        expect("answers to many at once", answers, [200] * 24)
        other = subprocess.run([lathe, "explore", f"--port={server.port}", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        expect("port in use", (other.returncode, other.stdout, other.stderr), (1, "", f"lathe: --port={server.port}: Address already in use\n"))
        with socket.socket() as s:
            own = socket.gethostbyname(socket.gethostname())
            if not own.startswith("127.") and s.connect_ex((own, server.port)) == 0:
                fail(f"the server can be reached at {own}")
    expect("status at the end", server.status, 0)


def is_running(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_end(program):
    """A server ends at once, also while a function is being worked on, which ends, too."""
    with Server(lathe, "explore", program) as server, socket.create_connection(("127.0.0.1", server.port)) as s:
        at = max(json.loads(ask(server, f"/{server.token}/file.json")[1])["functions"], key=lambda f: f[1])[0]
        s.sendall(f"GET /{server.token}/function.json?at={at}&target=own&opt=max HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        children = f"/proc/{server.process.pid}/task"
        workers = []
        while not workers and not select.select([s], [], [], 0)[0]:
            for task in os.listdir(children):
                try:
                    with open(f"{children}/{task}/children", encoding="ascii") as f:
                        workers += f.read().split()
                except OSError:
                    pass  # the thread has ended
    expect("status at the end", server.status, 0)
    while any(map(is_running, workers)):
        time.sleep(0.05)


with tempfile.TemporaryDirectory(prefix="lathe-explore-") as folder:
    for program in programs:
        check_page(folder, program)
        check_counts(folder, program)
    check_server(programs[0])
    check_end(programs[-1])
finish()
