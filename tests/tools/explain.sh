#!/bin/sh
# explain.sh LATHE COUNTED: --explain says what has become of a tool's functions, in all code; each site is told once.
lathe=$1 counted=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# Columns: 2 tool, 3 event, 4 function, 5 code, 6 sites, 7 counter, 8 merged, 9 inlined, 10 split, 11 call, 12 keeping, 13 left, 14 and 15 what a site adds. The rest of the log is that of --stats.
explain() {
    "$lathe" run --explain --stats --log="$work/log" "$@" -- "$counted" 2 > /dev/null 2> "$work/other"
    awk '$2 == "tool" && $3 == "event" { on = 1 } on && !/adds per site$/ && !/ (bytes|IR)$/ { on = 0 } on' "$work/log" > "$work/rows"
    from_cache=$(sed -n 's/^lathe:   from the cache *//p' "$work/log")
    rm "$work/log"
    [ -s "$work/other" ] && fail "$*: on standard error: $(cat "$work/other")"
    awk 'NR > 1 && $6 != $7 + $8 + $9 + $10 + $11 + $12 + $13 { print "sites do not add up:", $0 }' "$work/rows" > "$work/wrong"
    [ -s "$work/wrong" ] && fail "$*: $(cat "$work/wrong")"
}

# Is there a row of which this is true?
expect() {
    awk "NR > 1 && ($1) { found = 1 } END { exit !found }" "$work/rows" || fail "no row with $1: $(cat "$work/rows")"
}

explain --tier=quick --tool=inscount
expect '$2 == "inscount" && $3 == "INSN" && $4 == "count" && $5 == "quick" && $7 > 0 && $8 > $7 && $14 > 0 && $14 < 10 && $15 == "bytes"'
explain --tier=opt --tool=inscount
expect '$5 == "optimised" && $7 > 100 && $7 == $6'
for what in first cached; do
    explain --tier=opt --tool=align --tool=bbcount
    expect '$2 == "align" && $3 == "LOAD" && $4 == "load" && $5 == "optimised" && $9 + $10 == $6 && $10 > $9 && $15 == "IR"'
    expect '$2 == "bbcount" && $3 == "BLOCK" && $5 == "optimised" && $7 == $6'
    case $what-$from_cache in
    first-0 | cached-[1-9]*) ;;
    *) fail "$what: $from_cache objects are from the cache" ;;
    esac
    grep -v '^lathe: tool ' "$work/rows" | sort > "$work/$what"
done
cmp -s "$work/first" "$work/cached" || fail "objects from the cache tell something else: $(diff "$work/first" "$work/cached")"
explain --tier=quick --tool=align --tool=opcodemix
expect '$4 == "load" && $5 == "quick" && $9 + $10 == $6'
expect '$4 == "insn" && $5 == "quick" && $7 + $8 == $6 && $8 > $7'
explain --tier=quick --no-tool-opt --tool=align
expect '$4 == "load" && $13 == $6'
explain --tier=opt --no-tool-opt --tool=align
expect '$4 == "load" && $5 == "optimised" && $11 == $6'

# One thing alone is left out.
explain --tier=quick --no-tool-opt=merge --tool=opcodemix
expect '$4 == "insn" && $7 == $6'
explain --tier=quick --no-tool-opt=split --tool=align
expect '$4 == "load" && $9 + $11 == $6 && $11 > 0'
explain --tier=opt --no-tool-opt=keep --tool=align
expect '$4 == "load" && $5 == "optimised" && $9 + $10 == $6 && $10 > $9'
for how in quick opt; do
    explain --tier=$how --no-tool-opt=inline --tool=align # what does nothing at accesses of one byte is there, too
    expect '$4 == "load" && $9 + $11 + $12 == $6 && $11 + $12 > 5'
    expect '$4 == "count_load" && $7 + $8 == $6'
    explain --tier=$how --no-tool-opt=counter --tool=align
    expect '$4 == "count_load" && $7 + $8 == 0'
done
# A copy of a structure is no repeated string instruction, for which code would be left. Functions find all of their arguments.
cat > "$work/copies.c" <<'EOT'
#include <lathe/tool.h>
#include <string.h>
typedef struct Structure {
    uint64_t words[11], sum;
    char tail[7];
} Structure;
static Structure structures[4];
static char bytes[100];
static uint64_t wrong;
static void copy(uint64_t pc, uint64_t count) {
    Structure *from = &structures[pc % 4], *to = &structures[pc / 4 % 4];
    from->words[10] = pc, from->sum = pc + count, from->tail[6] = (char)pc;
    *to = *from;
    wrong += to->words[10] != pc || to->sum != pc + count || to->tail[6] != (char)pc;
}
static void move(uint64_t count) {
    memset(bytes, 7, 90);
    bytes[0] = (char)count;
    memmove(bytes + count % 8 + 1, bytes, 90);
    wrong += bytes[count % 8 + 1] != (char)count || bytes[count % 8 + 90] != 7;
}
static void end(void) {
    if (wrong)
        lathe_print("%lu copies are wrong\n", wrong);
}
LATHE_HOOKS(LATHE_ON(LATHE_BLOCK, copy, {LATHE_PC}, {LATHE_COUNT}), LATHE_ON(LATHE_BLOCK, move, {LATHE_COUNT}), LATHE_ON(LATHE_END, end));
EOT
for how in quick opt; do
    explain --tier=$how --tool="$work/copies.c"
    expect '$4 == "copy" && $9 + $10 + $11 + $12 == $6 && $6 > 20'
    expect '$4 == "move" && $9 + $10 + $11 + $12 == $6 && $6 > 20'
    "$lathe" run --tier=$how --tool="$work/copies.c" -- "$counted" 2 2>&1 | grep wrong && fail "$how: copies"
done

# A function that is too large to be inlined is called by optimised code so that it keeps registers.
cat > "$work/large.c" <<'EOT'
#include <lathe/tool.h>
static uint64_t seen[64];
#define MIX(i) seen[i] = seen[i] * 3 + (address ^ pc << i), seen[i + 1] ^= seen[i] / (pc | 1)
static void look(uint64_t address, uint64_t pc) {
    MIX(0), MIX(2), MIX(4), MIX(6), MIX(8), MIX(10);
}
LATHE_HOOKS(LATHE_ON(LATHE_LOAD, look, {LATHE_ADDRESS}, {LATHE_PC}));
EOT
explain --tier=opt --tool="$work/large.c"
expect '$4 == "look" && $5 == "optimised" && $12 == $6'
explain --tier=opt --no-tool-opt=keep --tool="$work/large.c"
expect '$4 == "look" && $5 == "optimised" && $11 == $6'
"$lathe" run --no-tool-opt=nonsense --tool=align -- /bin/true 2> "$work/out" && fail "--no-tool-opt=nonsense succeeds"
grep -q 'all|counter|merge|inline|split|keep' "$work/out" || fail "--no-tool-opt=nonsense: $(cat "$work/out")"

# Without a tool there is nothing to explain.
"$lathe" run --explain -- /bin/echo it runs > "$work/out" 2>&1 && fail "--explain without a tool succeeds"
grep -q 'explain' "$work/out" || fail "--explain without a tool: $(cat "$work/out")"

exit $failed
