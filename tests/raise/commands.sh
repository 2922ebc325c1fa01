#!/bin/bash
# commands.sh LATHE LIST [DIR [HOST]]: each command line of the list runs the system's program, and that program raised, in two equal directories;
# what they print, how they end and what is then in the directories must be the same. Raised programs are kept in DIR, if given, and are
# for the machine HOST, under qemu, if that is given; only then may some be refused.
lathe=${1:?} list=${2:?} host=$4
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
kept=${3:-$dir/raised}
mkdir -p "$kept"
equal=0 refused=0 failed=0

prepare() { # DIRECTORY
    mkdir -p "$1/sub" "$1/empty"
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "line $i:of:the text:for$i	all kinds of programs"
        echo "same"
    done >"$1/a"
    for i in 17 3 99 4 250 1 8; do echo "$i $((i * 7 % 10))"; done >"$1/b"
    head -c 4000 /bin/sh >"$1/c"
    cp "$1/a" "$1/sub/d"
    touch -d @1000000 "$1"/* "$1/sub/d"
}

execute() { # PROGRAM NAME DIRECTORY ARGUMENTS…
    local program=$1 name=$2 where=$3 qemu=
    shift 3
    case $program in "$kept"/*) qemu=$host ;; esac
    rm -rf "$where"
    prepare "$where"
    if [ -n "$qemu" ]; then
        (cd "$where" && timeout 60 "qemu-$qemu" -L "/usr/$qemu-linux-gnu" -0 "$name" "$program" "$@" <c)
    else
        (cd "$where" && timeout 20 bash -c 'name=$1; program=$2; shift 2; exec -a "$name" "$program" "$@"' sh "$name" "$program" "$@" <c)
    fi
    echo "status $?"
    find "$where" -type f ! -name c -exec cksum {} + | sed "s|$where||" | sort
}

run_line() { # NAME ARGUMENTS…
    program=$(command -v "$1" | grep ^/) || program=/usr/bin/$1
    [ -x "$program" ] || return
    name=$(basename "$1" | sed 's/\[/bracket/')
    if [ ! -x "$kept/$name" ] && ! timeout 300 "$lathe" raise ${host:+--target="$host"} "$program" -o "$kept/$name" 2>"$dir/why"; then
        sed "s/^/refused: /" "$dir/why"
        refused=$((refused + 1))
        return
    fi
    first=$1
    shift
    execute "$program" "$first" "$dir/w" "$@" >"$dir/native.out" 2>&1
    execute "$kept/$name" "$first" "$dir/w" "$@" >"$dir/raised.out" 2>&1
    if cmp -s "$dir/native.out" "$dir/raised.out"; then
        equal=$((equal + 1))
    else
        echo "FAIL: $first $*"
        diff "$dir/native.out" "$dir/raised.out" | head -n 4
        failed=$((failed + 1))
    fi
}

while read -r line; do
    case $line in '#'* | '') continue ;; esac
    set -f
    run_line $line
    set +f
done <"$list"
echo "$equal command lines do as the native ones, $refused programs were refused, $failed differ"
[ $failed = 0 ] && { [ -n "$host" ] || [ $refused = 0 ]; }
