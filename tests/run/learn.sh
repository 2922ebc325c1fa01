#!/bin/sh
# learn.sh LATHE CLIENT SERVER GUESTS: what runs have learned is kept, and decides what later ones ask for; what is left is compiled after a run, by a process that
# is bounded, in nobody's way, and leaves nothing behind. GUESTS has the source learn.c.
lathe=$(realpath "$1")
client=$(realpath "$2")
server=$(realpath "$3")
guests=$(realpath "$4")
. "$(dirname "$0")/../check.sh"
own_server "$client" "$server"
export LATHE_SERVER=none
gcc -w -O2 "$guests/learn.c" -o learn || exit 1
settle learn

# files MAGIC: the files of the cache that begin so.
files() {
    for pack in "$LATHE_CACHE"/*.pack; do
        [ -f "$pack" ] && [ "$(od -An -c -N8 "$pack" | tr -d ' ')" = "$1" ] && echo "$pack"
    done
}
profiles() {
    files 'le-prof1'
}

# works WHAT KIND ROUNDS [OPTION...]: a run has the right output.
works() {
    works_what=$1 kind=$2 rounds=$3
    shift 3
    ./learn "$kind" "$rounds" >expected
    expect 0 "$works_what" run --stats=json "$@" ./learn "$kind" "$rounds"
    same out expected
}

# grow FIGURE OPERATOR NUMBER WHAT KIND [OPTION...]: runs with ever more rounds, until the figure is so.
grow() {
    figure=$1 operator=$2 number=$3 grow_what=$4 grow_kind=$5
    shift 5
    rounds=50000
    while :; do
        works "$grow_what" "$grow_kind" $rounds "$@"
        test "$(figure "$figure")" "$operator" "$number" || [ "$rounds" -gt 20000000 ] && break
        rounds=$((rounds * 2))
    done
    counts "$figure" "$operator" "$number"
}

# after: the processes that compile after a run; copies of own/lathe-client that are called so.
after() {
    for proc in /proc/[0-9]*; do
        [ "$(readlink "$proc/exe" 2>/dev/null)" = "$dir/own/lathe-client" ] &&
            [ "$(cat "$proc/comm" 2>/dev/null)" = lathe-after ] && echo "${proc#/proc/}"
    done
}
none_left() {
    [ -z "$(after)$(servers)" ]
}

# ------------------------------------------------------------------------------------------------------- given up, and kept so
grow reverted -gt 0 "code that is no gain" crossing --hot-after=2
holds test -n "$(profiles)"
again=$rounds
settled() {
    works "$what" crossing "$again" --hot-after=2
    [ "$(figure translated)" = 0 ] && [ "$(figure reverted)" = 0 ]
}
what="soon nothing is asked for"
holds wait_until settled
mkdir kept
cp "$(profiles)" kept
# On a busy machine a sample may find code in which no earlier run had one.
remembered() {
    rm -f cache/*.pack
    cp kept/* cache
    works "nor with the profile alone" crossing "$again" --hot-after=2
    [ "$(figure functions)" = 0 ] && [ "$(figure translated)" = 0 ]
}
what="with the profile alone, nothing is asked for"
holds wait_until remembered
rm -f cache/*.pack
grow translated -gt 0 "but with nothing" crossing --hot-after=2

# ----------------------------------------------------------------------------------------------------------------- the price
rm -rf cache
works "a short program asks for nothing" steady 3000
counts translated -eq 0
# Its server may have its answer after the program's end; then a later run has it from the cache.
has_code() {
    works "$what" steady 30000
    [ "$(figure functions)" -gt 0 ]
}
what="until it has run often enough"
holds wait_until has_code

# ------------------------------------------------------------------------------------------------------ a profile that is damaged
rm -rf cache
never=--hot-after=1000000
grow samples -gt 3 "a profile" steady $never
one=$(profiles)
holds test -n "$one"
cp "$one" whole
damaged() {
    works "$1" steady "$rounds" $never
    expect 0 "$1 is written anew" "$lathe" cache
    says_not out damaged
    says out ' runs .* hot places'
}
for at in 0 8 16 24 48 52 60 72; do
    patch "$one" $at '\0377\0125'
    damaged "damage at $at"
done
for size in 0 1 40 56 80; do
    truncate -s $size "$one"
    damaged "cut to $size bytes"
done
head -c 100000 /dev/zero >"$one"
damaged "zeros"
mv "$one" other
dd if=other of="$one" bs=1 count=7 2>/dev/null
damaged "a part"
cp whole "$one"
chmod 666 "$one"
works "a file that others may write" steady "$rounds" $never
rm -f "$one"
ln -s /etc/passwd "$one"
works "a link" steady "$rounds" $never
rm -f "$one"
mkdir "$one"
works "a directory" steady "$rounds" $never
rmdir "$one"
echo >"$one.new"
works "somebody writes it" steady "$rounds" $never
is ! -e "$one"
touch -d '1 hour ago' "$one.new"
works "somebody has not finished it" steady "$rounds" $never
works "which is found" steady "$rounds" $never
is -e "$one"
is ! -e "$one.new"
echo >file
LATHE_CACHE="$dir/file" works "a cache that is a file" steady "$rounds" $never
LATHE_CACHE=none works "no cache" steady "$rounds" $never
expect 0 "clear" "$lathe" cache clear
is "$(profiles)" = ""

# ------------------------------------------------------------------------------------------------------------ lathe compile
rm -rf cache
grow samples -gt 20 "what is hot" steady $never
counts functions -eq 0
expect 0 "compile what is hot" "$lathe" compile --tier=auto --profile ./learn
says err '[^0-9][1-9][0-9]* functions translated'
works "what was compiled" steady "$rounds" $never
counts functions -gt 0
counts translated -eq 0

# --------------------------------------------------------------------------------------------------------------- after the run
rm -rf cache
grow left -gt 0 "something is left" steady $never --compile-after=20
made() {
    works "$what" steady "$rounds" $never
    [ "$(figure functions)" -gt 0 ] && [ "$(figure from_image)" -gt 0 ]
}
what="the next run has it"
holds wait_until made
counts translated -eq 0
counts left -eq 0
what="nothing is left behind"
holds wait_until none_left
rm -rf cache
works "turned off" steady "$rounds" $never --compile-after=0
counts left -eq 0
is "$(after)" = ""
expect 0 "nothing to compile" run --stats=json --compile-after=20 true
counts left -eq 0
is "$(after)" = ""
works "in a child" fork "$rounds" $never --compile-after=20
what="a child leaves nothing"
holds wait_until none_left

# The server never answers, so the process waits, until its time is up.
rm -f own/lathe-server
printf '#!/bin/sh\nexec cat <&3 >/dev/null\n' >own/lathe-server
chmod +x own/lathe-server
what="it is in nobody's way"
./learn steady "$rounds" >expected
run $never --compile-after=1 ./learn steady "$rounds" | cat >out
same out expected
# The one that starts it ends at once, but on a busy machine it may still be there.
one_left() {
    [ "$(after | wc -l)" = 1 ]
}
holds wait_until one_left
waiting=$(after)
sh -c 'run=$("$@" 2>/dev/null) && wait && [ "$run" = "$(cat expected)" ]' sh "$lathe" run $never --compile-after=1 ./learn steady "$rounds"
is $? -eq 0
what="there is one at a time"
holds wait_until one_left
is "$(after)" = "$waiting"
what="its priority, session and descriptors"
is "$(ps -o cls= -p "$waiting" | tr -d ' ')" = IDL
is "$(ps -o sid= -p "$waiting" | tr -d ' ')" = "$waiting"
is "$(ps -o ppid= -p "$waiting" | tr -d ' ')" != $$
is "$(for fd in 0 1 2; do readlink /proc/"$waiting"/fd/$fd; done | sort -u)" = /dev/null
is "$(for fd in /proc/"$waiting"/fd/*; do readlink "$fd"; done | grep -v -e /dev/null -e socket: -e "$LATHE_CACHE/claims")" = ""
what="it ends"
holds wait_until none_left
gone() {
    [ -z "$(after)" ]
}
holds wait_until gone

finish
