#!/bin/sh
# installed.sh BUILD CC EXAMPLE: a program that was written for binopt.h compiles and runs with what is installed, as pkg-config finds it.
build=$(realpath "$1")
cc=$2
example=$(realpath "$3")
. "$(dirname "$0")/../check.sh"

if ! command -v pkg-config >/dev/null; then
    echo "skip: there is no pkg-config here"
    exit 77
fi
expect 0 "install" meson install -C "$build" --no-rebuild --destdir "$dir/root"
PKG_CONFIG_SYSROOT_DIR="$dir/root"
PKG_CONFIG_PATH=$(dirname "$(find root -name binopt.pc)")
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH="$dir/$PKG_CONFIG_PATH"
LD_LIBRARY_PATH=$(dirname "$(find "$dir/root" -name libbinopt.so)")
export LD_LIBRARY_PATH
expect 0 "pkg-config" pkg-config --cflags --libs binopt
says out '-lbinopt'
flags=$(cat out)
is -f "$(find root -name libbinopt.3)"
# The flags are words.
expect 0 "compile" $cc -O2 -Wall -Werror "$example" $flags -o program
expect 0 "run" ./program
says out '^llvm: a new function, 0 of 1000 results differ'
expect 0 "linked with the other library" $cc -O2 "$example" $(pkg-config --cflags binopt) -L"$LD_LIBRARY_PATH" -lbinopt-none -o other
expect 0 "run it" ./other
says out '^Default \(no rewriting\): the original function, 0 of 1000 results differ'

# Neither the library that rewrites machine code nor a program that uses it has anything to do with LLVM.
expect 0 "pkg-config of the library without LLVM" pkg-config --cflags --libs binopt-machine
says out '-lbinopt-machine'
expect 0 "compile with it" $cc -O2 "$example" $(cat out) -o machine
expect 0 "run with it" ./machine
says out '^trace: a new function, 0 of 1000 results differ'
for file in machine "$LD_LIBRARY_PATH/libbinopt-machine.so"; do
    expect 0 "what $file needs" readelf -d "$file"
    says out 'NEEDED'
    says_not out 'LLVM|stdc'
done
finish
