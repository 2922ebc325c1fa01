#!/bin/sh
# ahead.sh LATHE CLIENT SERVER BARE CC: `lathe compile` for programs of another machine, together with the host's, and the daemon of `lathe serve`.
lathe=$(realpath "$1")
client=$(realpath "$2")
server=$(realpath "$3")
program=$(realpath "$4")
cc=$5
. "$(dirname "$0")/../../check.sh"
own_server "$client" "$server"
clean_up() {
    "$lathe" serve --stop >/dev/null 2>&1
}
cp "$program" bare
printf './bare\nword\n' >want
settle bare

# ---------------------------------------------------------------------------------------------------------- ahead of time
expect 0 "a program of another machine" "$lathe" compile ./bare
says err ': [1-9][0-9]* functions translated'
expect 2 "it runs" run --tier=opt --stats=json ./bare word
same out want
counts translated -eq 0
counts from_cache -gt 0
expect 0 "for both tiers" "$lathe" compile --tier=auto ./bare
expect 2 "it runs in both tiers" run --stats=json ./bare word
same out want
counts translated -eq 0
expect 0 "a second time" "$lathe" compile ./bare
says err ': 0 functions translated'

images() {
    for pack in cache/*.pack; do
        [ "$(od -An -c -N8 "$pack" | tr -d ' ')" = lhe-img1 ] && echo "$pack"
    done
}
what="an image"
is "$(images)" != ""
expect 0 "better code" "$lathe" compile --optimize=2 ./bare
is "$(images)" = ""
expect 2 "it is used" run --tier=opt --stats=json ./bare word
same out want
counts from_cache -gt 0

printf 'int library(void);\nint main(void) { return library(); }\n' >user.c
printf 'int library(void) { return 5; }\n' >library.c
mkdir root root/lib
"$cc" -shared -fPIC -nostdlib library.c -o root/lib/liblibrary.so
"$cc" -nostdlib -e main user.c -Lroot/lib -llibrary -Wl,--dynamic-linker=/lib/interpreter -o user
expect 1 "a library that is nowhere" "$lathe" compile ./user
says err 'needs a library that is not found: liblibrary.so'
cp bare root/lib/interpreter
expect 0 "a library in the sysroot" "$lathe" compile -L root ./user
says err '^3 files: '
gcc -shared -fPIC -nostdlib library.c -o host.so
expect 0 "both kinds at once" "$lathe" compile ./bare ./host.so
is "$(grep -c ' files: ' err)" -eq 2

# ------------------------------------------------------------------------------------------------------------- the daemon
expect 0 "a daemon" "$lathe" serve
expect 2 "it translates" run --tier=opt --cache=none --stats=json ./bare word
same out want
counts translated -gt 0
expect 0 "it stops" "$lathe" serve --stop
finish
