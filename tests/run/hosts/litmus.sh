#!/bin/sh
# litmus.sh LATHE HOST PROGRAM OBJDUMP NM: what orders accesses in the code that functions of an x86-64 program (litmus.c) become on a host with a weaker order, while there are
# two threads: all that is needed, and nothing else.
lathe=$(realpath "$1")
host=$2
program=$(realpath "$3")
objdump=$4
nm=$5
. "$(dirname "$0")/../../check.sh"
command -v "qemu-$host" >/dev/null || skip_all "there is no qemu-$host"

expect 42 "the program" "$lathe" run --host="$host" --tier=opt --opt=quick --cache=none --server=none --dump=obj "$program"

# Loads and stores of the guest's memory, exchanges, and fences: what is at the guest state's address (x7) is left out.
order_of() { # FUNCTION
    address=$("$nm" "$program" | awk -v name="$1" '$3 == name { print $1 }')
    file=$(printf 'lathe-dump/g_%x.o' $((0x$address - 0x400000)))
    "$objdump" -d --no-show-raw-insn "$file" | awk '
        /\[x7[],]/ { next }
        $2 == "dmb" { printf "%s ", $3 }
        $2 == "ldaxr" || $2 ~ /^swp/ { printf "exchange " }
        $2 == "ldr" || $2 == "ldur" { printf "load " }
        $2 == "str" || $2 == "stur" { printf "store " }
        $2 == "ldp" { printf "load load " }
        $2 == "stp" { printf "store store " }
        $2 == "ret" { exit }' | sed 's/ $//'
}

# The last load is that of the return address. Where a function begins, all of the caller's accesses may be pending.
ordered() { # FUNCTION ORDER
    what="the order of $1"
    got=$(order_of "$1")
    if [ "$got" = "$2 load" ]; then pass; else fail "$got, not $2 load"; fi
}
ordered message_write "ish store ishst store"
ordered message_read "ishld load ishld load"
ordered buffered "ish store load"
ordered buffered_fenced "ish store ish load"
ordered load_store "ishld load ish store"
ordered lock "ishld exchange ish load"
ordered unlock "ish store ishst store"
ordered only_read "ishld load ishld load"
ordered own "store store load load"

# Before a C function: a fence behind the store. Around it there are accesses to the host's stack.
what="the order of saved"
address=$("$nm" "$program" | awk '$3 == "saved" { print $1 }')
got=$("$objdump" -d --no-show-raw-insn "$(printf 'lathe-dump/g_%x.o' $((0x$address - 0x400000)))" | awk '
    $2 == "dmb" { printf "%s ", $3 }
    $2 == "bl" { print "call"; exit }')
if [ "$got" = "ish ishst call" ]; then pass; else fail "$got, not ish ishst call"; fi
finish
