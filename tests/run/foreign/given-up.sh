#!/bin/sh
# given-up.sh LATHE CC GUESTS: optimised code that goes over to quick code all the time is given up, and a thread that is in a loop of it leaves it then: crossings between
# the two come to an end. GUESTS has the source dispatched.c.
lathe=$(realpath "$1")
cc=$2
guests=$(realpath "$3")
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache" LATHE_SERVER=none

"$cc" -w -O2 -static "$guests/dispatched.c" -o dispatched && gcc -w -O2 "$guests/dispatched.c" -o expecting || exit 1

# What one run has asked for, the next one begins with. Some run has code that it gives up: the loop's without that of the functions, or the other way round.
rounds=400
./expecting $rounds >expected
reverted=0
for run in 1 2 3 4 5 6 7 8; do
    expect 0 "run $run" run --stats=json ./dispatched $rounds
    same out expected
    counts crossings -lt $((rounds * 1000000 / 8))
    reverted=$((reverted + $(figure reverted)))
    [ $run -gt 2 ] && [ $reverted != 0 ] && break
done
is $reverted -gt 0
finish
