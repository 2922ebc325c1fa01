"""memory.py: what processes under `lathe run` have in memory, by who needs it."""
import os
import re
import subprocess

# each says that it is ready, and waits for its input to end
WAITING = {
    "cat": ["/bin/cat"],
    "bash": ["/bin/bash", "-c", "echo; read x"],
    "perl": ["/usr/bin/perl", "-e", "$| = 1; print qq(\\n); <STDIN>"],
    "python3": ["/usr/bin/python3", "-c", "import sys; print(flush=True); sys.stdin.read()"],
    "node": ["/usr/bin/node", "-e", "console.log(); process.stdin.resume()"],
}
# docs/address-space.md has the places
PLACES = {
    "map": (0x7FF00000, 0x7FF00000 + 4 * 0x71000000),
    "code": (0x71000000, 0x7FF00000),
    "tables": (0x565600000000, 0x567600000000),
}
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) [rwxsp-]{4} ")


def place_of(address):
    for name, (start, end) in PLACES.items():
        if start <= address < end:
            return name
    return "rest"


def resident(pid):
    """{place: (MiB that are resident, MiB of them that it has copied or made for itself)}; the places together are "all"."""
    sizes, place = {}, None
    with open(f"/proc/{pid}/smaps") as f:
        for line in f:
            mapping = MAPPING.match(line)
            if mapping:
                place = place_of(int(mapping[1], 16))
                continue
            what, kib = line.split()[:2]
            for name in (place, "all"):
                size = sizes.setdefault(name, [0, 0])
                if what == "Rss:":
                    size[0] += int(kib) / 1024
                elif what == "Anonymous:":
                    size[1] += int(kib) / 1024
    return {name: tuple(size) for name, size in sizes.items()}


def measure(command, env):
    """What it has when it is ready."""
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if command[-1] == "/bin/cat":
            process.stdin.write(b"\n")
            process.stdin.flush()
        process.stdout.readline()
        sizes = resident(process.pid)
        process.stdin.close()
        process.stdout.read()
    return sizes


def print_row(name, native, lathe):
    def cell(place):
        return "{:5.1f} /{:5.1f}".format(*lathe.get(place, (0, 0)))

    print(f"{name:10}{native['all'][0]:8.1f}{lathe['all'][0]:8.1f}{lathe['all'][0] - native['all'][0]:8.1f}   " +
          "  ".join(cell(place) for place in PLACES), flush=True)


def compare(run_lathe, env, warming_runs):
    """[(name, native, lathe)], printed as a table. run_lathe: what is in front of a command."""
    print("memory: MiB resident natively, under lathe (warm), more; of that the map, code and tables, each with what is this process's alone: the rest is of the image, which processes share")
    rows = []
    for name, command in WAITING.items():
        if not os.path.exists(command[0]):
            print(f"{name}: not installed")
            continue
        for _ in range(warming_runs):
            measure(run_lathe + command, env)
        rows.append((name, measure(command, env), measure(run_lathe + command, env)))
        print_row(*rows[-1])
    print()
    return rows
