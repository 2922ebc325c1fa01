#!/bin/sh
# machine.sh LATHE BIN MACHINE CONTEXTS: what guests see of their machine, and its state in handlers, against files; instructions that the oracle lacks; and what users see of an
# instruction that it has not.
lathe=$(realpath "$1")
bin=$(realpath "$2")
machine=$(realpath "$3")
contexts=$(realpath "$4")
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache"

for when in "" ", once more"; do
    expect 0 "the machine$when" run "$bin/aarch64-machine"
    same out "$machine"
    expect 0 "the state$when" run "$bin/aarch64-contexts"
    same out "$contexts"
done

for tier in quick auto; do
    expect 0 "copies of memory, $tier" run --tier=$tier "$bin/aarch64-copies"
    is "$(cat out)" = "mistakes: 0"
done

expect 132 "an instruction that is not there" run "$bin/aarch64-machine" sve
says err '^lathe: an instruction that is not supported, at [0-9a-f]+: 2538c000$'
is "$(grep -c '^lathe: ' err)" -eq 1
finish
