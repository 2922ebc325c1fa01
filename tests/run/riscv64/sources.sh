#!/bin/sh
# sources.sh LATHE SCRIPTS [FOLDER]: Lua and SQLite of Debian's source packages, compiled for this machine and, statically and dynamically,
# for riscv64: the scripts of SCRIPTS (bench/run) print the same. Times are printed beside. FOLDER has the packages if they need not
# be fetched. The status is 77 if they cannot be.
lathe=$(realpath "$1")
scripts=$(realpath "$2")
folder=${3:+$(realpath "$3")}
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache"
sysroot=/usr/riscv64-linux-gnu

# -------------------------------------------------------------------------------------------------------------- the sources
# get COMMAND...: apt-get with lists of our own, since few machines have those of source packages: from where this one has the others
get() {
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$dir/parts" -o Dir::State::Lists="$dir/lists" \
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@" >fetched 2>&1
}
if [ -n "$folder" ]; then
    cp "$folder"/*.orig.tar.* .
else
    mkdir -p lists/partial parts
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >parts/all.list
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -e "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >parts/"$(basename "$file")"
    done
    if ! get update || ! get source --download-only lua5.4 sqlite3; then
        tail -n 3 fetched
        skip_all "no source packages to be had"
    fi
fi
if ! command -v tclsh >/dev/null; then
    skip_all "SQLite needs tclsh to be put together"
fi
tar xf lua5.4_*.orig.tar.gz
tar xf sqlite3_*.orig.tar.xz
(cd sqlite3-*/ && ./configure --disable-tcl --disable-readline && make sqlite3.c shell.c) >made 2>&1 || fail "SQLite's sources"

# ------------------------------------------------------------------------------------------------------------- the programs
# compile SUFFIX COMPILER OPTION...
compile() {
    suffix=$1
    shift
    "$@" -O2 -w -DLUA_USE_POSIX -o lua-"$suffix" $(ls lua-5*/src/*.c | grep -v luac.c) -lm
    "$@" -O2 -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -o sqlite-"$suffix" sqlite3-*/sqlite3.c sqlite3-*/shell.c -lm
}
compile native gcc
compile dynamic riscv64-linux-gnu-gcc
compile static riscv64-linux-gnu-gcc -static
lua_args="$scripts/work.lua"
sqlite_args="-batch -init $scripts/work.sql :memory: .quit"

# timed NAME COMMAND...: as expect, and how long it took
timed() {
    name=$1
    shift
    start=$(date +%s%N)
    expect 0 "$name" "$@"
    echo "$name: $((($(date +%s%N) - start) / 1000000)) ms"
}
for program in lua sqlite; do
    eval "args=\$${program}_args"
    # shellcheck disable=SC2086
    timed "$program, native" ./$program-native $args
    mv out want
    for kind in dynamic static; do
        # shellcheck disable=SC2086
        timed "$program, $kind, cold" run ./$program-$kind $args
        same out want
        # shellcheck disable=SC2086
        timed "$program, $kind, warm" run ./$program-$kind $args
        same out want
    done
    # shellcheck disable=SC2086
    timed "$program, qemu" qemu-riscv64 -L $sysroot ./$program-dynamic $args
    same out want
done
finish
