#!/bin/sh
# traces.sh LATHE COUNTED TRACES SOURCE: the events of each instruction are those of the CPU's single steps, with the same addresses, values and targets; and
# functions that only count give the numbers of these.
lathe=$1 counted=$2 traces=$3 here=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0
unset LATHE_TOOL

# Where a signal's frame is on the stack depends on how that is aligned.
without_places() {
    sed 's/stack-[0-9a-f]*/stack/'
}

watch() {
    "$lathe" run --tier=$tier --tool="$here/$1" -- "$counted" $what 2>&1
    echo "status $?"
}

for what in 0 1 2 3 4 5 6; do
    { "$traces" "$counted" $what 2>&1; echo "status $?"; } > "$work/steps"
    lines=$(grep -c '^[IL]' "$work/steps")
    [ "$lines" -gt 50 ] || { echo "FAIL: counted $what: only $lines lines"; failed=1; }
    case $what in
    3 | 4) without_places < "$work/steps" > "$work/expected" ;;
    *) cp "$work/steps" "$work/expected" ;;
    esac
    cut -c1 "$work/steps" | grep '[BCGIJKLRS]' | sort | uniq -c | awk '{ print $2, $1 }' > "$work/counts"
    tail -n 1 "$work/steps" >> "$work/counts"
    for tier in quick auto opt; do
        watch tracing.c > "$work/lines"
        case $what in
        3 | 4) without_places < "$work/lines" > "$work/got" ;;
        *) cp "$work/lines" "$work/got" ;;
        esac
        cmp -s "$work/expected" "$work/got" || {
            echo "FAIL: counted $what, tier $tier: the events differ:"
            diff "$work/expected" "$work/got" | head -n 10
            failed=1
        }
        watch kinds.c | sed '/ 0$/{/^status/!d}' > "$work/got"
        cmp -s "$work/counts" "$work/got" || {
            echo "FAIL: counted $what, tier $tier: the numbers differ:"
            diff "$work/counts" "$work/got"
            failed=1
        }
    done
done
# Hooks for certain places, against the symbols that nm and the instructions that objdump know.
what=0
"$traces" "$counted" 0 2> "$work/steps"
objdump -d --no-show-raw-insn "$counted" > "$work/code"
nm -S "$counted" > "$work/symbols"
expected=$(python3 - "$work" <<'EOF'
import sys
work = sys.argv[1]
at, size = next((int(w[0], 16), int(w[1], 16)) for w in map(str.split, open(work + "/symbols")) if w[-1] == "fib")
pushes = {w[0].rstrip(":") for w in map(str.split, open(work + "/code")) if len(w) > 1 and w[1] == "push"}
lines = [line.split() for line in open(work + "/steps")]
insns = [line[1] for line in lines if line[0] == "I"]
functions = sorted((int(w[0], 16), int(w[1], 16)) for w in map(str.split, open(work + "/symbols")) if len(w) == 4 and w[2] in "tTwW")

def where(pc):
    """Which function it is in, or between which ones it is."""
    last = [(f, pc - f[0] < f[1]) for f in functions if f[0] <= pc][-1:]
    return last

left = sum(line[0] in "BG" and where(int(line[1], 16)) != where(int(line[2], 16)) for line in lines)
print(sum(at <= int(pc, 16) < at + size for pc in insns), sum(pc in pushes for pc in insns), sum(line[0] == "B" for line in lines), 0, left)
EOF
)
got=$("$lathe" run --tool="$here/places.c" -- "$counted" 0 2>&1)
[ "$(echo "$got" | tail -n 1)" = "$expected" ] || { echo "FAIL: places: '$got' instead of '$expected'"; failed=1; }
[ "$(echo "$got" | grep -c '^fib begins with')" = 1 ] || { echo "FAIL: fib does not begin once: $got"; failed=1; }
[ "$(echo "$got" | head -n 1)" = counted ] || { echo "FAIL: the program is no module: $got"; failed=1; }
"$lathe" run --tool="$here/places.c" -- /bin/true 2>&1 | grep -q '^libc.so' || { echo "FAIL: libc is no module"; failed=1; }
# All of this was told by optimised code, and the file of a tool of ours is the same, byte by byte, from all kinds of code.
for tool in tracing.c kinds.c places.c; do
    "$lathe" run --tier=opt --stats --tool="$here/$tool" -- "$counted" 0 2>&1 | grep -q '^lathe: blocks copied  *0$' || { echo "FAIL: $tool has quick code with --tier=opt"; failed=1; }
done
memory() {
    setarch -R "$lathe" run --tier=$tier --sample-every=100 --hot-after=1 --stats --tool=memtrace,out="$work/memory.$tier" -- "$counted" l > /dev/null 2> "$work/stats"
    cmp "$work/memory.quick" "$work/memory.$tier" || { echo "FAIL: memtrace, tier $tier: the files differ"; failed=1; }
    grep -q '^lathe: functions optimised  *[1-9]' "$work/stats"
}
tier=quick
memory
tier=opt
memory || { echo "FAIL: memtrace, tier opt: no optimised code"; failed=1; }
tier=auto # how soon the server answers nobody knows
for try in 1 2 3 4; do
    memory
done
# Signals, here those of the sampling, come between instructions that are counted and others.
cat > "$work/stores.c" <<'EOF'
#include <lathe/tool.h>
static LatheCounter stores;
static void store(void) { lathe_count(&stores, 1); }
static void report(void) { lathe_print("%lu\n", lathe_total(&stores)); }
LATHE_HOOKS(LATHE_ON(LATHE_STORE, store), LATHE_ON(LATHE_END, report));
EOF
expected=$("$lathe" run --tier=quick --tool="$work/stores.c" -- "$counted" l 2>&1)
got=$("$lathe" run --tier=auto --sample-every=100 --hot-after=1000000 --tool="$work/stores.c" -- "$counted" l 2>&1)
[ "$got" = "$expected" ] || { echo "FAIL: $got stores instead of $expected"; failed=1; }
[ "$(stat -c %s "$work/memory.quick")" -gt 100000 ] || { echo "FAIL: memtrace: a short file"; failed=1; }
[ $failed = 0 ] && echo ok
exit $failed
