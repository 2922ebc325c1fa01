#!/bin/bash
# report.sh LATHE: `lathe raise` says what it found, as text and as JSON; -Os makes less code; progress is for terminals only, and leaves nothing there.
lathe=$(realpath "${1:?}")
. "$(dirname "$0")/begin.sh"

cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) double scale(int n, double x) { return x * n; }
__attribute__((noinline)) int choose(int n) {
    switch (n) {
    case 0: return puts("zero");
    case 1: return puts("one");
    case 2: return putchar('2');
    case 3: return printf("%d\n", n);
    case 4: return fputs("four\n", stdout);
    case 5: return fputc('5', stdout);
    case 6: return printf("six\n");
    }
    return 0;
}
int main(int argc, char **argv) {
    static void *const places[] = {&&first, &&second};
    static const short distances[] = {0, &&second - &&first};
    if (argc > 5) goto *(&&first + distances[argc - 6]);
    goto *places[argc > 2];
first:
    printf("%g\n", scale(argc, 2.5));
    return choose(argc);
second:
    return choose(atoi(argv[1]));
}
C
gcc -O2 program.c -o program || exit 2

"$lathe" raise --fallback=no --report program -o raised >text 2>message || complain "the program is refused: $(cat message)"
[ -s message ] && complain "something is said although nobody is at a terminal: $(cat message)"
for line in '^functions  *[1-9]' '^instructions  *[1-9]' '^computed jumps  *[1-9]' '^  by a table  *[1-9]'; do
    grep -q "$line" text || complain "no $line in the report"
done

"$lathe" raise --fallback=no --report=json program -o raised >report.json || complain "the program is refused"
python3 - <<'P' || complain "the report as JSON is wrong"
import json
with open("report.json") as f:
    report = json.load(f)
assert (report["file"], report["machine"], report["target"]) == ("program", "x86-64", "x86_64")
functions = {f["name"]: f for f in report["functions"] if f["name"]}
assert functions["scale"]["takes"] == ["integer 1", "vector 1"] and functions["scale"]["gives"][0] == "vector 1", functions["scale"]
assert functions["main"]["takes"][:2] == ["integer 1", "integer 2"] and functions["main"]["gives"][0] == "integer 1", functions["main"]
assert any(f.get("import", "").endswith("printf_chk") or f.get("import", "").endswith("strtol") for f in report["functions"])
assert functions["main"]["native"] is True
tables = [j for j in report["computed_jumps"] if j["table"]]
assert any(j["places"] == 7 and int(j["table"]["end"], 0) - int(j["table"]["start"], 0) == 28 for j in tables), tables
assert len(report["functions"]) == report["counts"]["functions"]
assert len(report["computed_jumps"]) == report["counts"]["jumps_resolved"]
for left in report["left_to_run_time"]:
    assert int(left["address"], 0) and left["why"]
P
./program 3 >native.out
./raised 3 >raised.out
cmp -s native.out raised.out || complain "the raised program does something else"

for level in 2 s; do
    "$lathe" raise -O$level --emit=obj program -o $level.o || complain "-O$level is refused"
    size -A $level.o | awk '$1 ~ /^\.text/ { n += $2 } END { print n }' >$level.size
done
[ "$(cat s.size)" -lt "$(cat 2.size)" ] || complain "-Os makes $(cat s.size) bytes of code and -O2 $(cat 2.size)"
"$lathe" raise -Os program -o raised && ./raised 3 | cmp -s - native.out || complain "the program raised with -Os does something else"

# At a terminal there is a line, which is erased.
python3 - "$lathe" >/dev/null <<'P' || complain "progress at a terminal is wrong"
import os, pty, sys
seen = b""
def read(fd):
    global seen
    data = os.read(fd, 65536)
    seen += data
    return data
status = pty.spawn([sys.argv[1], "raise", "program", "-o", "raised"], read)
assert status == 0, seen
assert b" functions " in seen and seen.endswith(b"\r\x1b[K"), seen
P
[ $failed = 0 ] && echo "reports say what was found"
exit $failed
