#!/bin/sh
# reach.sh LATHE STIRRED: a program with threads, and one with a handler of faults, get optimised code, and their next runs begin with it.
#
# The server works while the program runs, which may end before it has an answer: so a part that has none yet is run again, with what the run
# before has left in the cache.
set -u
lathe=$1 stirred=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# value NAME: what the last run says of it
value() {
    sed -n "s/^lathe: *$1  *\\([0-9]*\\).*/\\1/p" "$work/stats" | head -n 1
}

for part in workers faults; do
    "$lathe" run --cache=none --tier=quick "$stirred" $part >"$work/right"
    for try in 1 2 3 4 5 6; do
        "$lathe" run --cache="$work/$part" --stats "$stirred" $part >"$work/out" 2>"$work/stats"
        cmp -s "$work/right" "$work/out" || { echo "$part, run $try: another result"; failed=1; }
        [ "$(value 'in the image')" -gt 0 ] && break
    done
    if [ "$(value 'in the image')" -eq 0 ]; then
        echo "$part: no optimised code in the image after $try runs"
        failed=1
    fi
    if [ "$(value 'asked of the server')" -gt 1 ]; then
        echo "$part: code is compiled again that the image should have"
        failed=1
    fi
done
exit $failed
