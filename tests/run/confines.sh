#!/bin/sh
# confines.sh LATHE CLIENTS SERVER NATIVE PROGRAM TIERS KILLS [WAYS]: programs that give up rights of their own (guest/confines.c) behave as natively, also
# if the servers are killed when they have (KILLS is yes, or no, or both). CLIENTS is the directory of the clients; NATIVE and PROGRAM are the same program for this
# machine and for the guest's.
lathe=$(realpath "$1")
clients=$(realpath "$2")
server=$(realpath "$3")
native=$(realpath "$4")
program=$(realpath "$5")
tiers=$6
killing=$7
ways=${8:-landlock landlock-exec chroot user capabilities namespaces closing descriptors all-descriptors processes file-size filter hiding directory mask reaping}
. "$(dirname "$0")/../check.sh"
mkdir own empty
cp "$server" "$clients"/lathe-client "$clients"/lathe-client-* own/ 2>/dev/null
export LATHE_LIBEXEC="$dir/own"

# confined FILE COMMAND...: everything that it writes and its status, by a pipe: there may be a limit for files. It waits for a line of `lines`.
mkfifo lines
confined() {
    file=$1
    shift
    : >"$file"
    (
        cd empty || exit
        "$@" <../lines 2>&1
        echo "status $?"
    ) | cat >>"$file" &
    begun=$!
    exec 9>lines
}

# go_on: the line that it waits for, and its end.
go_on() {
    echo go >&9
    exec 9>&-
    wait "$begun"
}

# await_confined FILE: until it says so, or has ended.
await_confined() {
    until grep -q '^confined' "$1" || ! kill -0 "$begun" 2>/dev/null; do
        sleep 0.1
    done
}

# ready_cache TIER: a cache in which a program that does nothing is.
ready_cache() {
    export LATHE_CACHE="$dir/cache-$1" LATHE_TIER="$1"
    mkdir "cache-$1"
    "$lathe" run "$program" >/dev/null 2>&1 # its status is 2: there is no such way
}

# cut_off WAY: no server can be had any more, for want of a descriptor, and this guest's optimised code does not give way to quick code.
cut_off() {
    [ "$program" != "$native" ] && [ "$1-$tier-$kills" = all-descriptors-opt-yes ]
}

# try WAY: with every tier, and a copy of the cache.
try() {
    for tier in $tiers; do
        for kills in $killing; do
            what="$1, --tier=$tier, killed servers: $kills"
            rm -rf cache
            cp -r "cache-$tier" cache
            LATHE_CACHE="$dir/cache" LATHE_TIER=$tier confined out "$lathe" run "$program" "$1"
            await_confined out
            killed=0
            [ $kills = no ] || kill_servers
            [ $kills-$tier != yes-opt ] || is $killed -gt 0
            go_on
            if cut_off "$1"; then
                says out 'optimised code of this guest does not give way to quick code'
                says out '^status 127$'
            else
                same out expected
            fi
            find cache ! -readable -o -name '*.new' >unusable
            silent unusable
        done
    done
}

for tier in $tiers; do
    ready_cache "$tier"
done
tried=no
for way in $ways; do
    confined expected "$native" "$way"
    await_confined expected
    go_on
    if grep -q '^cannot' expected; then
        skip "$way" "$(cat expected)"
    else
        tried=yes
        try "$way"
    fi
done
what="the end"
is $tried = yes
soon_left ""
finish
