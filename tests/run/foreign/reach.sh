#!/bin/sh
# reach.sh LATHE STIRRED: a program with threads, one with a handler of faults, and one with a large loop get optimised code, and their next runs begin
# with it.
#
# The server works while the program runs, which may end before it has an answer: then the program runs again, for longer.
set -u
lathe=$1 stirred=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# value NAME: what the last run says of it
value() {
    sed -n "s/^lathe: *$1  *\\([0-9]*\\).*/\\1/p" "$work/stats" | head -n 1
}

run() {
    "$lathe" run --cache="$work/$part" --stats "$stirred" $part $rounds >"$work/out" 2>"$work/stats"
    "$lathe" run --cache=none --tier=quick "$stirred" $part $rounds >"$work/right"
    cmp -s "$work/right" "$work/out" || { echo "$part $rounds: another result"; failed=1; }
}

for part in workers faults large; do
    rounds=1
    while run && [ "$(value 'in the image')" -eq 0 ] && [ $rounds -lt 200 ]; do
        rounds=$((rounds * 2))
    done
    if [ "$(value 'in the image')" -eq 0 ]; then
        echo "$part $rounds: no optimised code in the image"
        failed=1
    fi
done
exit $failed
