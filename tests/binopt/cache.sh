#!/bin/sh
# cache.sh SPEC: specialisations that are kept on disk: later runs use them, wherever they are loaded to, and none is ever wrong.
# SPEC is the program that specialises many functions and compares them with the originals.
spec=$(realpath "$1")
. "$(dirname "$0")/../check.sh"
export BINOPT_CACHE="$dir/cache" BINOPT_LOGLEVEL=2

# made, recalled: how many functions the last run made itself, and how many came from earlier ones.
made() {
    grep -c 'instructions lifted' err
}
recalled() {
    grep -c 'by an earlier run' err
}
tests=100 # so many of the program's tests, which are fewer
runs() {
    expect 0 "$1" "$spec" $tests
    says out '^0 of [0-9]+ checks failed'
}

runs "first run"
all=$(made)
is "$all" -gt 100
is "$(recalled)" -eq 0
is "$(ls cache | wc -l)" -eq 1
is "$(stat -c %a cache)" = 700
is "$(stat -c %a cache/*.pack)" = 600
runs "second run, elsewhere"
runs "third run"
is "$(recalled)" -gt $((all / 2))
is "$(made)" -lt $((all / 2))
before=$(recalled)
runs "fourth run"
is "$(recalled)" -ge "$before"

# Where everything is at the same addresses, one run is enough.
if setarch -R true 2>/dev/null; then
    BINOPT_CACHE="$dir/fixed"
    expect 0 "fixed addresses" setarch -R "$spec" $tests
    expect 0 "fixed addresses again" setarch -R "$spec" $tests
    says out '^0 of [0-9]+ checks failed'
    is "$(recalled)" -gt $((all / 2))
    BINOPT_CACHE="$dir/cache"
fi

# From here on it does not matter what the functions are: some are enough.
tests=6
rm -r cache
runs "some functions"
all=$(made)
is "$all" -gt 100
runs "some functions, elsewhere"
runs "some functions, for the third time"
before=$(recalled)
is "$before" -gt $((all / 2))

# Damage: every byte may be wrong. What is hit is made again.
pack=$(ls "$dir"/cache/*.pack)
cp "$pack" whole
size=$(stat -c %s whole)
for i in 1 2 3 4 5 6; do
    cp whole "$pack"
    for k in 1 2 3 4 5 6 7 8; do
        patch "$pack" $((size * (8 * i + k) / 60)) '\0252\0125'
    done
    runs "damage $i"
done
head -c $((size / 2 + 5)) whole >"$pack"
runs "cut"
head -c 100000 /dev/urandom >"$pack"
runs "noise"
: >"$pack"
runs "empty"
cp whole "$pack"
runs "whole again"
is "$(recalled)" -ge "$before"

# Several at once.
rm -r cache
for run in 1 2 3; do
    "$spec" $tests >out.1 2>/dev/null & a=$!
    "$spec" $tests >out.2 2>/dev/null & b=$!
    "$spec" $tests >out.3 2>/dev/null
    wait $a $b
    for i in 1 2 3; do
        what="concurrent run $run"
        says out.$i '^0 of [0-9]+ checks failed'
    done
done
runs "after them"
is "$(recalled)" -gt $((all / 2))

# Nowhere to write.
: >file
BINOPT_CACHE="$dir/file/cache"
runs "no directory"
is "$(made)" -eq "$all"
BINOPT_CACHE="$dir/small"
LATHE_CACHE_SIZE=0 runs "no space"
is ! -e small
mkdir others
chmod 777 others
BINOPT_CACHE="$dir/others"
runs "a directory of everybody"
is "$(ls others | wc -l)" -eq 0
BINOPT_CACHE=none
runs "none"
is ! -e none

finish
