#!/bin/sh
# small.sh LATHE BIN: limits that are too small for Lathe itself lead to a sentence, and a limit on the size of files, which code in memory
# is not, to nothing. BIN has the guest programs.
lathe=$(realpath "$1")
bin=$(realpath "$2")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache"

# LIMIT STATUS WHAT COMMAND...: with a limit that the program and Lathe have together
limited() {
    limit=$1 status=$2 text=$3
    shift 3
    expect "$status" "$text" prlimit "$limit" -- "$lathe" "$@"
}

limited --as=200000000 126 "too little address space" run /usr/bin/true
says err 'needs [0-9]* MiB of address space .*the limit \(ulimit -v\) is 190 MiB'
limited --data=20000000 126 "too little data" run /usr/bin/true
says err 'needs [0-9]* MiB of data .*the limit \(ulimit -d\) is 19 MiB'
limited --nofile=3 126 "too few open files" run /usr/bin/true
says err '/usr/bin/true: cannot be opened: the limit of open files \(ulimit -n\) is too small'
limited --as=400000000 3 "little address space" run "$bin/gcc2-status" 3
limited --data=100000000 3 "little data" run "$bin/gcc2-status" 3

expect 0 "a function" "$lathe" lift "$bin/libplugin.so" --function=plugin_call
cp out function
limited --fsize=1000000 0 "a function, with small files" lift "$bin/libplugin.so" --function=plugin_call
same out function
finish
