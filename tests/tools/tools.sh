#!/bin/sh
# tools.sh LATHE COUNTED STEPS SOURCE: tools as users have them: what they count is what the CPU counts, and mistakes get a message.
lathe=$1 counted=$2 steps=$3 here=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0
unset LATHE_TOOL

fail() {
    echo "FAIL: $*"
    failed=1
}

# What `lathe run` with a tool says of the program, and its status.
tier=quick
watch() {
    tool=$1
    shift
    { "$lathe" run --tier=$tier --tool="$tool" -- "$counted" "$@" 2>&1; echo "status $?"; } 2>/dev/null | sed "/^Segmentation fault/d"
}

# The CPU's own count, step by step.
for what in 0 1 2 3 4 5 6 7; do
    expected=$("$steps" "$counted" $what 2>&1; echo "status $?")
    for tool in inscount "$here/calling.c"; do
        got=$(watch "$tool" $what)
        [ "$got" = "$expected" ] || fail "counted $what, $tool: '$got' instead of '$expected'"
    done
done

# All code says the same, first and from the cache. Optimised code knows no exact number where it faults for good, as 7 does.
for what in 0 1 2 3 4 5 6; do
    tier=quick
    expected=$(watch inscount $what)
    for tool in inscount "$here/calling.c"; do
        for tier in opt auto opt auto; do
            got=$(watch "$tool" $what)
            [ "$got" = "$expected" ] || fail "counted $what, $tool, tier $tier: '$got' instead of '$expected'"
        done
    done
done
tier=auto

# Functions that count beside others that are called, an array of counters, large amounts, and a word of each thread's own.
cat > "$work/both.c" <<EOF
#include <lathe/tool.h>
static LatheCounter few, many, odd[2];
static void count(void) { lathe_count(&few, 1); }
static void count_more(void) { lathe_count(&many, 5000000000); }
static void look(uint64_t pc) { lathe_count(&odd[pc & 1], 1); }
static void end(void) {
    lathe_print("%lu instructions\\n", lathe_total(&few));
    if (lathe_total(&odd[0]) + lathe_total(&odd[1]) != lathe_total(&few) || !lathe_total(&odd[1]))
        lathe_print("%lu and %lu\\n", lathe_total(&odd[0]), lathe_total(&odd[1]));
    if (lathe_total(&many) != 5000000000 * lathe_total(&few))
        lathe_print("%lu\\n", lathe_total(&many));
}
LATHE_HOOKS(LATHE_ON(LATHE_INSN, count), LATHE_ON(LATHE_INSN, count_more), LATHE_ON(LATHE_INSN, look, {LATHE_PC}), LATHE_ON(LATHE_END, end));
EOF
cat > "$work/own.c" <<EOF
#include <lathe/tool.h>
static void count(uint64_t *own) { own[3]++; }
static void end(const uint64_t *own) { lathe_print("%lu instructions\\n", own[3]); }
LATHE_HOOKS(LATHE_ON(LATHE_INSN, count, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end, {LATHE_THREAD_OWN}));
EOF
for what in 0 3 4 5; do
    for tool in "$work/both.c" "$work/own.c"; do
        for tier in quick opt auto; do
            got=$(watch "$tool" $what)
            [ "$got" = "$(watch inscount $what)" ] || fail "counted $what, $tool, tier $tier: $got"
        done
    done
done
tier=auto

# Threads: each further one adds the same number.
numbers=
for threads in 1 2 3 8; do
    got=$(watch inscount t$threads)
    [ "$got" = "$(watch "$here/calling.c" t$threads)" ] || fail "$threads threads: the tools differ"
    numbers="$numbers $(echo "$got" | sed -n 's/ instructions//p')"
done
set -- $numbers
[ $# = 4 ] && [ $(($2 - $1)) = $(($3 - $2)) ] && [ $(($4 - $3)) = $((5 * ($2 - $1))) ] && [ $(($2 - $1)) -gt 15000 ] ||
    fail "threads: $numbers instructions"

numbers=
for tier in quick opt auto auto; do
    numbers="$numbers $(watch inscount t3 | sed -n 's/ instructions//p')"
done
tier=auto
[ $(echo $numbers | tr ' ' '\n' | sort -u | wc -l) = 1 ] || fail "threads in quick, optimised and all code: $numbers instructions"

# A program with libraries, which do the same for the same processor wherever their memory is, and however much of it is free: in all code, first and from the cache.
numbers=
for tier in quick auto auto opt opt; do
    numbers="$numbers $(setarch -R "$lathe" run --cpu=x86-64-v2 --tier=$tier --tool=inscount -- /usr/bin/factor 97 2>&1 | sed -n 's/ instructions//p')"
done
tier=auto
[ $(echo $numbers | tr ' ' '\n' | sort -u | wc -l) = 1 ] && [ $(echo $numbers | wc -w) = 5 ] || fail "a program with libraries: $numbers instructions"

# Samples are taken where code goes on: amid what is counted together they would need new code for each place. Some more there may be: where optimised code is left.
blocks() {
    LATHE_CACHE="$work/blocks-$1" "$lathe" run --tier=$1 --sample-every=100 --compile-after=0 --stats --tool=inscount -- /usr/bin/awk 'BEGIN { for (i = 0; i < 300000; i++) n[i % 100] += i }' 2>&1 |
        sed -n 's/.*blocks copied *//p'
}
few=$(blocks quick)
many=$(blocks auto)
[ "$few" -gt 0 ] && [ "$many" -lt $((few + few / 10)) ] || fail "$many blocks with samples, $few without"

# A child begins at zero; exec ends one program and begins another.
[ "$(watch inscount f | grep -c instructions)" = 2 ] || fail "fork: $(watch inscount f)"
[ "$(watch inscount e | tail -n 2)" = "$(watch inscount 1)" ] || fail "exec: $(watch inscount e)"

# Events that are no instructions, and system calls that are changed.
events() {
    "$lathe" run --tier=$tier --tool="$here/events.c" -- "$@" 2>&1 | sort | uniq -c | sed 's/^ *//' | tr '\n' ','
}
expect() {
    [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
}
for tier in quick opt auto; do
    expect "events of signals" "$(events "$counted" 4)" "1 end,20 signal 10,1 start,"
    expect "events of threads" "$(events "$counted" t3)" "1 end,1 start,3 thread,4 thread ends,"
    expect "events of fork" "$(events "$counted" f)" "2 end,1 fork,2 start,"
    expect "events of exec" "$(events "$counted" e)" "2 end,2 start,"
    expect "changed calls" "$("$lathe" run --tier=$tier --tool="$here/events.c" -- /usr/bin/id -u 2>/dev/null)" "4321"
done
[ "$("$lathe" run --tool="$here/events.c" -- /bin/echo abc 2>/dev/null | wc -c)" = 4 ] || fail "what was not written is not written later"
tier=auto
[ "$("$lathe" run --tool=syscalls -- /bin/cat /dev/null /nosuch 2>&1 | awk '$4 == "openat" && $3 > 0')" ] || fail "syscalls: no openat that failed"

# What is wrong with a tool is said, and the program does not run.
refuse() {
    expected=$1
    shift
    got=$("$lathe" run "$@" -- /bin/echo it runs 2>&1) && fail "$*: succeeds"
    case $got in
    *"it runs"*) fail "$*: the program runs" ;;
    *"$expected"*) ;;
    *) fail "$*: '$got' does not say '$expected'" ;;
    esac
}
cat > "$work/broken.c" <<EOF
#include <lathe/tool.h>
static void f(void) { no_such_thing }
EOF
echo '#include <lathe/tool.h>' > "$work/empty.c"
cat > "$work/foreign.c" <<EOF
#include <lathe/tool.h>
int printf(const char *format, ...);
static void f(void) { printf("hello"); }
LATHE_HOOKS(LATHE_ON(LATHE_INSN, f));
EOF
cat > "$work/hidden.c" <<EOF
#include <lathe/tool.h>
static struct { int a; LatheCounter counter; } both;
static void f(void) { lathe_count(&both.counter, 1); }
LATHE_HOOKS(LATHE_ON(LATHE_INSN, f));
EOF
refuse 'variable of its own' --tool="$work/hidden.c"
refuse 'no tool of this name' --tool=nosuch
refuse 'No such file' --tool="$work/missing.c"
refuse 'no_such_thing' --tool="$work/broken.c"
refuse 'no LATHE_HOOKS' --tool="$work/empty.c"
refuse 'uses printf' --tool="$work/foreign.c"
"$lathe" run --tool=inscount -- /bin/true 2>/dev/null
"$lathe" cache show | grep -q ' tool ' || fail "the cache does not know of the tool: $("$lathe" cache show)"
for package in "$LATHE_CACHE"/*.pack; do
    head -c 100 "$package" > "$package.cut" && mv "$package.cut" "$package"
done
tier=quick
[ "$(watch inscount 0)" = "$("$steps" "$counted" 0 2>&1; echo "status $?")" ] || fail "a damaged package is not built again"
"$lathe" cache clear > /dev/null
[ -z "$(ls "$LATHE_CACHE"/*.pack 2>/dev/null)" ] || fail "cleared, but not empty: $(ls "$LATHE_CACHE")"
[ "$(watch inscount 0)" = "$("$steps" "$counted" 0 2>&1; echo "status $?")" ] || fail "not built again"

# A tool whose included file has changed is built again.
mkdir "$work/has space"
cat > "$work/has space/including.c" <<EOT
#include <lathe/tool.h>
#include "word.h"
static void end(void) { lathe_print(WORD "\\n"); }
LATHE_HOOKS(LATHE_ON(LATHE_END, end));
EOT
for word in one two two; do
    echo "#define WORD \"$word\"" > "$work/has space/word.h"
    [ "$("$lathe" run --tool="$work/has space/including.c" -- /bin/true 2>&1)" = $word ] || fail "a file that the tool includes has changed, and the tool has not"
done
rm "$work/has space/word.h"
"$lathe" run --tool="$work/has space/including.c" -- /bin/true 2>&1 | grep -q 'word.h.* not found' || fail "a file that the tool includes is gone, and nobody says so"

# Of two equal files in different directories, each is built with what it includes.
for word in one two one; do
    mkdir -p "$work/$word"
    echo "#define WORD \"$word\"" > "$work/$word/word.h"
    cp "$work/has space/including.c" "$work/$word"
    [ "$("$lathe" run --tool="$work/$word/including.c" -- /bin/true 2>&1)" = $word ] || fail "the tool includes what another one does"
done

# With --no-tool-opt functions are only called, in all code, and the numbers are the same.
for tool in inscount "$here/calling.c"; do
    for tier in quick opt auto; do
        got=$("$lathe" run --tier=$tier --no-tool-opt --tool="$tool" -- "$counted" 2 2>&1)
        [ "$got" = "$("$lathe" run --tier=quick --tool="$tool" -- "$counted" 2 2>&1)" ] || fail "$tool, tier $tier, plain: '$got'"
    done
done

# Of most code no instruction is counted: a fault there, which the dynamic linker's jumps have, counts nothing back.
own=$("$lathe" run --tier=quick --tool="$here/filtered.c" -- /bin/true 2>&1)
echo "$own" | grep -qE '^[1-9][0-9]* own, 0 nowhere$' || fail "filtered: '$own'"
[ "$own" = "$("$lathe" run --tool="$here/filtered.c" -- /bin/true 2>&1)" ] || fail "filtered: '$own' in quick code only"

"$lathe" tool inscount | grep -q 'hook 1: only counts' || fail "lathe tool: $("$lathe" tool inscount)"
[ $failed = 0 ] && echo ok
exit $failed
