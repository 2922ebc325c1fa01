#!/bin/sh
# machine.sh LATHE BIN EXPECTED: what guests see of their machine, against a file; and what users see of an instruction that it has not.
lathe=$(realpath "$1")
bin=$(realpath "$2")
expected=$(realpath "$3")
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache"

expect 0 "the machine" run "$bin/riscv64-machine"
same out "$expected"
expect 0 "once more" run "$bin/riscv64-machine"
same out "$expected"

expect 132 "an instruction that is not there" run "$bin/riscv64-vector"
says err '^lathe: an instruction that is not supported, at [0-9a-f]+: 0d007057 \(OP-V\)$'
is "$(grep -c '^lathe: ' err)" -eq 1
finish
