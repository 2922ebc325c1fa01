#!/bin/sh
# plugins.sh LATHE COUNTED EXAMPLE SOURCE PLUGGED NOTHING OTHER [OTHER-COUNTED...]: plugins: the example counts what a tool counts by events; whatever goes wrong in a plugin is told, and the program
# ends with it; caches and servers keep plugins apart. PLUGGED, NOTHING and OTHER are built from plugged.c; OTHER-COUNTED is COUNTED for another machine.
lathe=$1 counted=$2 example=$(realpath "$3") here=$4 plugged=$(realpath "$5") nothing=$(realpath "$6") other=$(realpath "$7")
shift 7
work=$(mktemp -d)
clean_up() {
    "$lathe" serve --stop > /dev/null 2>&1
    "$lathe" serve --stop --plugin="$plugged,parent" > /dev/null 2>&1
    rm -rf "$work"
}
trap clean_up EXIT
export LATHE_CACHE="$work/cache" XDG_RUNTIME_DIR="$work"
failed=0
unset LATHE_TOOL LATHE_PLUGIN LATHE_TIER LATHE_SERVER

fail() {
    echo "FAIL: $*"
    failed=1
}

# run OPTION... -- WHAT: what is said, and the status.
run() {
    { "$lathe" run "$@" > "$work/out" 2>&1; echo "status $?" >> "$work/out"; } 2> /dev/null
}

# same NAME WANTED: the last run has said this, and nothing else.
same() {
    [ "$(cat "$work/out")" = "$2" ] || fail "$1: '$(cat "$work/out")' instead of '$2'"
}

# says NAME PATTERN: the last run has said this in some line.
says() {
    grep -q "$2" "$work/out" || fail "$1: '$(cat "$work/out")', where '$2' should be"
}

# How many functions the server was asked for.
requested() {
    sed -n 's/^lathe: *asked of the server *//p' "$work/out"
}

totals=$here/../../examples/plugin/totals.c

# The example counts what a tool counts by events in quick code.
alike() {
    run --tool="$here/accessing.c" -- "$@"
    expected=$(cat "$work/out")
    run --tool="$totals" --plugin="$example" -- "$@"
    same "accesses of $*" "$expected"
}
for what in 0 1 2 4 6; do
    alike "$counted" $what
done
for counted_other in "$@"; do
    alike "$counted_other" 0
done
echo "$expected" | grep -q '^[1-9][0-9]* loads' || fail "nothing was counted: $expected"

# Its code is cached, under the plugin's content and its options.
cp "$example" "$work/accesses.so"
count() {
    run --tool="$totals" --plugin="$work/accesses.so$1" --stats -- "$counted" 0
}
count ''
first=$(grep loads "$work/out")
[ "$(requested)" = 0 ] || fail "a copy of the same plugin has its code made anew: $(requested)"
count ,from=0x10000000
says "an option" '^0 loads, 0 stores, 0 bytes'
[ "$(requested)" = 0 ] && fail "another option has the same code"
count ,from=0x10000000
says "the same option" '^0 loads, 0 stores, 0 bytes'
[ "$(requested)" = 0 ] || fail "the same option has its code made anew"
run --tool="$totals" --tier=opt -- "$counted" 0
says "no plugin" '^0 loads, 0 stores, 0 bytes'
printf x >> "$work/accesses.so"
count ''
[ "$(grep loads "$work/out")" = "$first" ] || fail "a changed file: $(cat "$work/out")"
[ "$(requested)" = 0 ] && fail "another file has the same code"
count ,to=3
says "an option that it does not have" "init: the only option is from=ADDRESS"
says "an option that it does not have" "^status 127"
run --plugin="$example" -- "$counted" 0
says "no tool" "needs --tool=totals.c"

# Hooks of the tool's own and what the plugin calls do not disturb each other.
# (What stands behind the last system call, one jump, belongs to its block, but is not executed.)
run --tool=inscount -- "$counted" 1
insns=$(sed -n 's/ instructions$//p' "$work/out")
run --tool="$here/plugged_tool.c" --plugin="$plugged,blocks" -- "$counted" 1
says "blocks" "^[1-9][0-9]* blocks, $((insns + 1)) instructions, $insns calls"

run --tool=inscount --plugin="$plugged" -- "$counted" 1
says "counted by the lifter" "^$insns instructions"

# What is not lifted is told: a handler of faults, and code that is in no file.
run --tool="$totals" --plugin="$example" -- "$counted" 3
says "a handler" "^lathe: from here on the program runs without the plugin: it handles faults"
run --tool="$totals" --plugin="$example" -- "$counted" 5
says "code of no file" "^lathe: from here on the program runs without the plugin: it has come to code that is in no file"

# bad PLUGIN WHAT: the run ends, and says this.
bad() {
    run --cache=none --tool="$here/plugged_tool.c" --plugin="$1" -- "$counted" 1
    says "$1" "$2"
    says "$1" "^status 127"
    [ "$(wc -l < "$work/out")" = "${3:-2}" ] || fail "$1: $(cat "$work/out")"
}
head -c 1000 "$0" > "$work/text.so"
bad "$work/text.so" "^lathe: the plugin $work/text.so: loading: .*ELF"
bad "$nothing" "^lathe: the plugin $nothing: cannot be used: it has no lathe_plugin"
bad "$other" "^lathe: the plugin $other: cannot be used: it is of version 8 of lathe/plugin.h, and this is version 1"
bad "$plugged,init-refuses" "^lathe: the plugin $plugged: init: this is refused"
bad "$plugged,init-crashes" "init: it has crashed: SIGSEGV"
bad "$plugged,refuses" "instrument, at the code at [0-9a-f]*: this is refused in two lines"
bad "$plugged,crashes" "instrument, at the code at [0-9a-f]*: it has crashed: SIGSEGV"
bad "$plugged,recurses" "it has crashed: SIGSEGV"
bad "$plugged,aborts" "it has crashed: SIGABRT"
bad "$plugged,exits" "it has called exit"
bad "$plugged,dies" "^lathe: the program cannot go on with the plugin, because there is no translation server" 3
bad "$plugged,killed" "^lathe: the program cannot go on with the plugin, because there is no translation server" 3
cp "$plugged" "$work/changing.so"
bad "$work/changing.so,changes=$work/changing.so" "^lathe: the plugin that the program was started with is not there any more: the file has changed"
bad "$plugged,invalid" "instrument, at the code at [0-9a-f]*: Basic Block .*does not have terminator"
bad "$plugged,unknown" "its code uses nobody_has_this"
bad "$plugged,assembly" "LLVM, with what it has made, at the code at [0-9a-f]*: "
bad "$plugged,marker" "it uses a marker for something else than calls"
export LATHE_LIMIT_MS=100
bad "$plugged,init-loops" "init: it takes too much time or memory"
bad "$plugged,loops" "instrument, at the code at [0-9a-f]*: it takes too much time or memory"
unset LATHE_LIMIT_MS
run --plugin="$work/none.so" -- "$counted" 1
same "no file" "lathe: the plugin $work/none.so: No such file or directory
status 1"
run --tier=quick --plugin="$example" -- "$counted" 1
says "quick" "not together with --tier=quick"
run --server=ssh:somewhere --plugin="$example" -- "$counted" 1
says "ssh" "not together with --server=ssh"
cat > "$work/state.c" <<'EOF'
#include <lathe/tool.h>
static uint64_t last;
static void look(void) { last = lathe_register(1); }
LATHE_HOOKS(LATHE_ON(LATHE_INSN, look));
EOF
run --tool="$work/state.c" --plugin="$example" -- "$counted" 1
says "a tool for quick code" "only quick code calls"

# It can speak, and does something when the program has ended.
run --plugin="$plugged,says" -- "$counted" 1
says "it speaks" "^lathe: at [0-9a-f]* of a file$"
run --cache=none --plugin="$plugged,finish=$work/finished" -- "$counted" 1
tries=0
while [ ! -e "$work/finished" ] && [ $tries -lt 200 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
[ -e "$work/finished" ] || fail "finish was not called"

# A server that others use loads what it was started for, and nothing else.
"$lathe" serve > /dev/null || fail "no server"
run --cache=none --server="$(echo "$work"/lathe/*.socket)" --tool="$totals" --plugin="$work/accesses.so" -- "$counted" 0
says "a server for all" "^lathe: the server was not started for this plugin, .*; a server is started here"
says "a server for all" "^$first"
"$lathe" serve --stop > /dev/null
process=$("$lathe" serve --plugin="$plugged,parent" | sed -n 's/^serving (process \(.*\))/\1/p')
run --cache=none --plugin="$plugged,parent" -- "$counted" 0
says "a server for it" "^lathe: parent ${process:-of no process}\$"
run --cache=none --tier=opt --server="$(echo "$work"/lathe/*.socket)" -- "$counted" 0
says "no plugin" "^lathe: the server is for programs with another plugin; a server is started here"

[ $failed = 0 ] && echo ok
exit $failed
