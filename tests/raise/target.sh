#!/bin/bash
# target.sh LATHE GUEST HOST FLAGS PROGRAM…: programs of the machine GUEST raised for HOST print what they print as they are, and end as they do.
# Programs of another machine than this one run under qemu. A program is a source, or a source and an argument for it with a colon between.
lathe=${1:?} guest=${2:?} host=${3:?} flags=${4:?}
shift 4
own=$(uname -m)
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0 equal=0

execute() { # MACHINE OUTPUT COMMAND…
    local machine=$1 output=$2
    shift 2
    [ "$machine" = "$own" ] || set -- "qemu-$machine" -L "/usr/$machine-linux-gnu" "$@"
    timeout 100 "$@" >"$output" 2>&1
    echo "status $?" >>"$output"
}

for program in "$@"; do
    source=${program%%:*} argument=
    [ "$source" = "$program" ] || argument=${program#*:}
    name="$(basename "$source") compiled with $flags"
    compiler=gcc
    [ "$source" = "${source%.cpp}" ] || compiler=g++
    "$guest-linux-gnu-$compiler" $flags -w -o "$dir/native" "$source" -lm -pthread || { echo "FAIL: $name: does not compile"; failed=1; continue; }
    "$lathe" raise --target="$host" "$dir/native" -o "$dir/raised" || { echo "FAIL: $name"; failed=1; continue; }
    execute "$guest" "$dir/native.out" "$dir/native" $argument
    execute "$host" "$dir/raised.out" "$dir/raised" $argument
    if cmp -s "$dir/native.out" "$dir/raised.out"; then
        equal=$((equal + 1))
    else
        echo "FAIL: $name: the program of $guest raised for $host differs:"
        diff "$dir/native.out" "$dir/raised.out" | head -n 10
        failed=1
    fi
done
[ $failed = 0 ] && echo "$equal programs of $guest raised for $host do as they did"
exit $failed
