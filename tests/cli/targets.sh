#!/bin/sh
# targets.sh LATHE SOURCES HELPERS CC: `lathe lift --target --emit`: functions of each guest as code for each host, called from a C program for that
# host, which qemu runs. What they give is what the same program gives natively. HELPERS is the folder of the helpers' objects, CC the own
# machine's compiler.
lathe=$(realpath "$1")
sources=$(realpath "$2")
helpers=$(realpath "$3")
cc=$4
. "$(dirname "$0")/../check.sh"

# What is special to a guest: options of the functions' compilers, and of its own one.
options() {
    [ "$1" = x86_64 ] && echo "-DEXTENDED"
}

functions() {
    echo "checksum:lpl weigh:dpl classify:lll shrink:iii"
    [ "$1" = x86_64 ] && echo "precise:dpl"
}

compiler() {
    [ "$1" = x86_64 ] && echo "$cc" || echo "$1-linux-gnu-gcc"
}

# check GUEST HOST RUN...: the lifted functions as a program of the host.
check() {
    guest=$1 host=$2
    shift 2
    objects=""
    for f in $(functions "$guest"); do
        name=${f%%:*}
        expect 0 "$guest's $name for $host" "$lathe" lift "$guest.so" --function="$name" --signature="${f#*:}" --strict-fp --target="$host" \
            --emit=obj -o "$name-$host.o"
        objects="$objects $name-$host.o"
    done
    # shellcheck disable=SC2046,SC2086
    "$(compiler "$host")" -static -DLIFTED $(options "$guest") -o "program-$host" "$sources/target_driver.c" $objects \
        "$helpers/lathe-helpers-$host.o" -lm || exit 1
    expect 0 "$guest's functions on $host" "$@" "./program-$host"
    same out "expected-$guest"
}

# The oracle is the same program, natively. Arithmetic is not to be fused in one and not in the other.
for guest in x86_64 riscv64 aarch64; do
    # shellcheck disable=SC2046
    "$cc" -O1 $(options $guest) -o native "$sources/target_driver.c" "$sources/target_guest.c" && ./native >"expected-$guest" || exit 1
    # shellcheck disable=SC2046
    "$(compiler $guest)" -O2 -ffp-contract=off -fno-stack-protector $(options $guest) -shared -fPIC -nostdlib -o "$guest.so" \
        "$sources/target_guest.c" || exit 1
    check "$guest" x86_64 env
    check "$guest" aarch64 qemu-aarch64
    check "$guest" riscv64 qemu-riscv64
done

# ------------------------------------------------------------------------------------------------------------- what one can see

for host in x86_64 aarch64 riscv64; do
    expect 0 "IR for $host" "$lathe" lift --hex="48 01 f8 c3" --target=$host --emit=llvm
    says out "^target triple = \"$host"
    expect 0 "assembly for $host" "$lathe" lift --hex="48 01 f8 c3" --target=$host --emit=asm
    says out 'lifted_0x1000:'
done
says out '	add	'
expect 0 "unoptimised IR" "$lathe" lift --hex="48 01 f8 c3" --target=aarch64 --opt=none
says out '^target triple = "aarch64'
expect 0 "an instruction without a host form" "$lathe" lift --hex="66 0f 38 dc c1 c3" --target=aarch64 --emit=asm
says out 'lathe_x86_block'
refuses "no such host" "there is no 'sparc'; there are x86_64 aarch64 riscv64" "$lathe" lift --hex=c3 --target=sparc
expect 2 "an object on the screen" "$lathe" lift --hex=c3 --emit=obj
says err 'needs -o FILE'
expect 2 "both columns" "$lathe" lift --hex=c3 --target=aarch64 --side-by-side
expect 0 "what is not exact" "$lathe" lift --support --target=aarch64
says out '^fsin .*the last bit may differ'
says out '^rcpps .*quotient'
expect 0 "what is exact" "$lathe" lift --support --target=x86_64
says out '^fsin +--------$'
finish
