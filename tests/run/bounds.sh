#!/bin/sh
# bounds.sh LATHE GUESTS: what a translation may take, and what is found to be translated. A function that takes LLVM too long is
# translated in pieces, or left to quick code, now and in later runs; functions that the client runs parts of itself are translated once;
# hot loops are found whatever their shape. GUESTS has the sources hard.c, places.c and scattered.c.
lathe=$(realpath "$1")
guests=$(realpath "$2")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache" LATHE_SERVER=none LATHE_HOT_AFTER=2

gcc -w -O2 "$guests/hard.c" -o hard && gcc -w -O2 "$guests/scattered.c" -o scattered || exit 1
gcc -w -O2 -DPLACES=20 "$guests/places.c" -o places-20 && gcc -w -O2 -DPLACES=80 "$guests/places.c" -o places-80 || exit 1

# More and more rounds of a program until a figure of its run is not 0: how soon that is depends on the machine.
until_seen() {
    rounds=50
    while :; do
        "$3" $4 $rounds >expected || exit 1
        expect 0 "$2, $rounds million rounds" run --stats=json "$3" $4 $rounds
        same out expected
        [ "$(figure "$1")" != 0 ] || [ $rounds -gt 20000 ] && break
        rounds=$((rounds * 2))
    done
    counts "$1" -gt 0
}

# settles WHAT PROG ARG TIER: runs of a program until one asks for nothing, and nothing is refused: on a busy machine, samples may be in code that no earlier run had any in, and what
# took too long there may have time the next time, but there is only so much of it.
settles() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        expect 0 "$1" run --tier="$4" --stats=json "$2" "$3"
        same out expected
        [ "$(figure refused)" = 0 ] && [ "$(figure translated)" = 0 ] && break
    done
    counts refused -eq 0
    counts translated -eq 0
}

# --------------------------------------------------------------------------------------------------- time and memory of a request
./hard 1 >expected-hard || exit 1
for limit in LATHE_LIMIT_MS LATHE_LIMIT_MIB; do
    rm -rf "$LATHE_CACHE"
    export $limit=1
    expect 0 "optimised code with $limit" run --tier=opt --stats=json ./hard 1
    same out expected-hard
    counts functions -gt 10
    cp expected-hard expected
    settles "optimised code with $limit, again" ./hard 1 opt
    until_seen refused "both tiers with $limit" ./hard
    settles "both tiers with $limit, again" ./hard $rounds auto
    unset $limit
done

# A daemon serves others as before.
rm -rf "$LATHE_CACHE"
mkdir -m 700 runtime
export XDG_RUNTIME_DIR="$dir/runtime"
clean_up() {
    "$lathe" serve --stop 2>/dev/null
}
LATHE_LIMIT_MS=1 "$lathe" serve --idle=60 || exit 1
expect 0 "a daemon whose copies end" run --server=auto --tier=opt ./hard 1
same out expected-hard
expect 0 "the daemon is still there" "$lathe" serve --stop

# ------------------------------------------------------------------------------------- instructions that the client executes itself
if grep -q avx2 /proc/cpuinfo; then
    rm -rf "$LATHE_CACHE"
    for places in 20 80; do
        ./places-$places >expected || exit 1
        expect 0 "$places places" run --tier=opt --cpu=native --stats=json ./places-$places
        same out expected
        eval "insns_$places=$(figure guest_instructions)"
        rm -rf "$LATHE_CACHE"
    done
    each=$(((insns_80 - insns_20) / 60))
    [ $each -le 14 ] || fail "of a function with vector instructions, $each instructions are translated for each 7"
else
    echo "no AVX2 here: functions with vector instructions are not looked at"
fi

# ------------------------------------------------------------------------------------------------------------------- hot loops
export LATHE_CACHE=none
for shape in far_jump cold_part apart two_jumps; do
    until_seen functions "a loop: $shape" ./scattered $shape
done

finish
