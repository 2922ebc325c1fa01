#!/bin/sh
# raise.sh LATHE SOURCE [few|all]: the program compiled in several ways and raised prints what it prints natively, and ends as it does.
# few: in two ways; all: at all levels of both compilers.
lathe=${1:?} source=${2:?} ways=$3
case $source in
*.cpp)
    std=$(sed -n 's,^// std: ,,p' "$source")
    gcc="g++ -std=${std:-c++17}" clang="clang++-19 -std=${std:-c++17}"
    ;;
*) gcc=gcc clang=clang-19 ;;
esac
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

same() { # NAME: as `native` and `raised` have run
    if ! cmp -s "$dir/native.out" "$dir/raised.out"; then
        echo "FAIL: $1: the raised program differs:"
        diff "$dir/native.out" "$dir/raised.out" | head -n 10
        failed=1
    fi
}

execute() { # PROGRAM OUTPUT
    timeout 60 "$1" >"$2" 2>&1
    echo "status $?" >>"$2"
}

try() { # RAISE-OPTIONS COMPILER FLAGS…
    options=$1
    shift
    name="$* raised with $options"
    "$@" -o "$dir/native" "$source" -lm -pthread || { echo "FAIL: $name: does not compile"; failed=1; return; }
    execute "$dir/native" "$dir/native.out"
    if grep -qE '^status (1[3-9].|12[4-9]|2..)$' "$dir/native.out"; then
        echo "FAIL: $name: it does not work natively, either"
        failed=1
    fi
    "$lathe" raise $options "$dir/native" -o "$dir/raised" || { echo "FAIL: $name"; failed=1; return; }
    execute "$dir/raised" "$dir/raised.out"
    same "$name"
}

case $ways in
few) levels='-O0' ;;
all) levels='-O0 -O1 -O2 -O3' ;;
*) levels='-O0 -O2' ;;
esac
for cc in "$gcc" "$clang"; do
    command -v ${cc%% *} >/dev/null || continue
    for level in $levels; do
        try -O2 $cc $level -w
    done
    levels=$(echo "$levels" | sed 's/^-O0$/-O2/')
done
if [ "$ways" != few ]; then
    try -O0 $gcc -O2 -w
    grep -q avx2 /proc/cpuinfo && try "-O3 --cpu=x86-64-v3" $gcc -O3 -w
    try -O3 $gcc -Os -w -no-pie -fno-pie
else
    try -O1 $gcc -O2 -w -no-pie -fno-pie
fi
[ $failed = 0 ] && echo "raised programs of $(basename "$source") do as the native ones"
exit $failed
