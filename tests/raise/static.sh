#!/bin/bash
# static.sh LATHE FLAGS SOURCE…: statically linked programs, whose C library is raised with them, do as the native ones: as they are, and stripped.
lathe=$(realpath "${1:?}") flags=${2:?}
shift 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

execute() { # PROGRAM OUTPUT
    timeout 60 "$1" a b >"$2" 2>&1
    echo "status $?" >>"$2"
}

for source in "$@"; do
    name="$(basename "$source") with $flags"
    gcc -O2 -w $flags -o "$dir/native" "$source" -lm -pthread || { echo "FAIL: $name: does not compile"; failed=1; continue; }
    "$lathe" raise -O1 "$dir/native" -o "$dir/raised" || { echo "FAIL: $name"; failed=1; continue; }
    execute "$dir/native" "$dir/native.out"
    execute "$dir/raised" "$dir/raised.out"
    cmp -s "$dir/native.out" "$dir/raised.out" && continue
    echo "FAIL: $name: the raised program differs:"
    diff "$dir/native.out" "$dir/raised.out" | head -n 10
    failed=1
done
[ $failed = 0 ] && echo "statically linked programs do as the native ones"
exit $failed
