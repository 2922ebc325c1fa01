#!/bin/sh
# hosts.sh LATHE HOST BARE HOSTED GUEST...: programs of each kind of guest on another kind of host: its client under qemu-HOST, with this machine's server. They print
# what they print under qemu-GUEST, or here if they are this machine's. BARE and HOSTED are the folders with GUEST-bare and GUEST-hosted; HOSTED has both of this machine's kind.
lathe=$(realpath "$1")
host=$2
bare=$(realpath "$3")
hosted=$(realpath "$4")
shift 4
guests=$*
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache" XDG_RUNTIME_DIR="$dir"
clean_up() {
    "$lathe" serve --stop >/dev/null 2>&1
}
command -v "qemu-$host" >/dev/null || skip_all "there is no qemu-$host"

here=$(uname -m)

# as_it_is GUEST PROGRAM ARG...: without Lathe
as_it_is() {
    emulator=$([ "$1" = "$here" ] || echo "qemu-$1")
    shift
    $emulator "$@"
}

# on_host GUEST PROGRAM ARG...: as under qemu-GUEST
on_host() {
    guest=$1
    shift
    as_it_is "$guest" "$@" >want
    expect $? "$* on $host" "$lathe" run --host="$host" --tier=opt --opt=quick --stats=json "$@"
    same out want
}

# The same in quick code alone, which no server has to do with.
in_quick_code() {
    guest=$1
    shift
    as_it_is "$guest" "$@" >want
    expect $? "$* on $host, in quick code" "$lathe" run --host="$host" --tier=quick --server=none --stats=json "$@"
    same out want
    counts quick_blocks -gt 0
    counts functions -eq 0
}
for guest in $guests; do
    if [ "$guest" != "$here" ] && ! command -v "qemu-$guest" >/dev/null; then
        skip "$guest on $host" "there is no qemu-$guest"
        continue
    fi
    program=$bare/$guest-bare
    [ "$guest" != "$here" ] || program=$hosted/$guest-bare
    on_host "$guest" "$program" one two
    counts translated -gt 0
    on_host "$guest" "$program" one two
    counts translated -eq 0
    on_host "$guest" "$hosted/$guest-hosted"
    counts translated -gt 20
    [ "$host-$guest" = aarch64-riscv64 ] || continue # there are stencils of that
    in_quick_code "$guest" "$program" one two
    in_quick_code "$guest" "$hosted/$guest-hosted"
done

# One daemon makes the code of all hosts: its copies are its children, whose time counts when they have ended. It is counted in hundredths of a second, which a small program
# does not need.
expect 0 "a daemon" "$lathe" serve --idle=60
pid=$(sed -n 's/.*process \([0-9]*\).*/\1/p' out)
export LATHE_CACHE=none
on_host "${guests%% *}" "$hosted/${guests%% *}-hosted"
has_served() {
    [ "$(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $14 + $15 }')" -gt 0 ]
}
what="the daemon has served it"
holds wait_until has_served
expect 0 "its end" "$lathe" serve --stop
expect 1 "a host that there is no client for" "$lathe" run --host=nothing "$bare/${guests%% *}-bare"
says err 'host/nothing/lathe-client-.* is missing'
finish
