#!/bin/sh
# once.sh: hooks that are called once at each place: nothing is missing, in all tiers, with threads, in copies of the program, and with handlers of signals.
# usage: once.sh LATHE TESTS
set -eu
lathe=$1 tests=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
cat > "$folder/program.py" <<'P'
import os, signal, threading

hits = []
signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)

def work(n):
    return sum(len(str(i * n)) for i in range(3000))

def all_at_once():
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

all_at_once()
for n in range(2):
    pid = os.fork()
    if not pid:
        sorted(str(i) for i in range(100))
        all_at_once()
        break
    os.waitpid(pid, 0)
signal.setitimer(signal.ITIMER_REAL, 0)  # the end takes the handler away
P

# Each process has a line, and all are the same.
check() { # processes, then the command
    processes=$1
    shift
    rm -f "$folder/log"
    "$lathe" run --log="$folder/log" "$@" > "$folder/out"
    if [ "$(sort "$folder/log" | uniq -c | sed 's/^ *//')" != "$processes once: many, 0 missing, 0 others, seldom" ]; then
        echo "once.sh: $*:" >&2
        cat "$folder/log" >&2
        exit 1
    fi
}

for tier in quick opt; do
    check 1 --tier=$tier --tool="$tests/once.c,some" -- /bin/true
done
for i in 1 2; do
    check 1 --tool="$tests/once.c,some" -- /usr/bin/sha256sum "$tests/memcheck.py"
done
for tier in quick auto; do
    check 3 --tier=$tier --tool="$tests/once.c,some" -- /usr/bin/python3 "$folder/program.py"
done

# What is told once alone lets calls go past a PLT. The blocks of the shell's own file are the same as beside a tool that sees each instruction, in copies of the program, too.
blocks() {
    rm -f "$folder"/cov.*
    "$lathe" run --log=/dev/null --tool=coverage,out="$folder/cov.%p" "$@" -- /bin/sh -c '(echo 1; exit 3); x=$(echo 2); echo $x; (echo 3)' > "$folder/out"
    python3 - "$folder"/cov.* <<'P'
import struct, sys
sets = []
for name in sys.argv[1:]:
    data = open(name, "rb").read()
    head = data.index(b"BB Table")
    modules = [line.split(b", ")[4] for line in data[:head].splitlines()[4:]]
    rows = struct.iter_unpack("<IHH", data[data.index(b"\n", head) + 1:])
    sets.append(sorted({(offset, size) for offset, size, m in rows if modules[m].endswith(b"/dash")}))
print(len(sets), *sorted(sets))
P
}
blocks > "$folder/alone"
blocks --tool=inscount > "$folder/beside"
[ "$(cut -c1-2 "$folder/alone")" = "4 " ]
cmp "$folder/alone" "$folder/beside"

# The next run has its code from an image, in which nothing was called yet.
for tier in quick auto; do
    for run in first second third; do
        "$lathe" run --tier=$tier --stats --log="$folder/$run.stats" --tool=coverage,out="$folder/$run.cov" -- /bin/sh -c 'echo $((6 * 7))' > "$folder/out"
        grep -q '^42$' "$folder/out"
    done
    cmp "$folder/first.cov" "$folder/second.cov"
    cmp "$folder/first.cov" "$folder/third.cov"
    copied=$(awk '/blocks copied/ { print $NF }' "$folder/third.stats")
    if [ "$copied" -gt 50 ]; then
        echo "once.sh: with an image, $copied blocks are copied" >&2
        exit 1
    fi
done
