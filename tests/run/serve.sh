#!/bin/sh
# serve.sh LATHE CLIENT SERVER PAUSES INTRUDER MANDIR: `lathe serve`, and programs that use it: many in a row and at once, a daemon that
# is killed, rubbish, other users, and a server that is reached by a (false) ssh. PAUSES and INTRUDER are built from files of these names.
lathe=$(realpath "$1")
client=$(realpath "$2")
server=$(realpath "$3")
pauses=$(realpath "$4")
intruder=$(realpath "$5")
mandir=$(realpath "$6")
. "$(dirname "$0")/../check.sh"
own_server "$client" "$server"
export LATHE_TIER=opt

serve() {
    "$lathe" serve "$@"
}

# no_servers: ends all of them, and returns when they are gone.
no_servers() {
    kill_servers
    wait_until left ""
}

clean_up() {
    serve --stop >/dev/null 2>&1
    for server_folder in own far; do
        kill_servers
    done
}

# right WHAT OPTION...: the program runs, says what it should, and nothing else is said.
right() {
    name=$1
    shift
    expect 7 "$name" run "$@" "$pauses" 0 64
    same out expected
    silent err
}

# The process that `lathe serve` names.
daemon() {
    serve | sed -n 's/.*process \([0-9]*\).*/\1/p'
}

# Time that a daemon's clients have used, in 1/100 s: only ended ones count.
used() {
    sed 's/.*) //' "/proc/$1/stat" | awk '{ print $14 + $15 }'
}

resident_kib() {
    awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"
}

has_worked() {
    [ "$(used "$pid")" -gt 0 ]
}

"$pauses" 0 64 >expected

# ------------------------------------------------------------------------------------------------------ beginning and end
documented serve
expect 2 "an operand" serve now
expect 2 "no time" serve --idle=0
expect 2 "two things" serve --stop --foreground
expect 2 "an option as host" serve --ssh=-oProxyCommand=x
expect 2 "a server of no kind" run --server=somewhere "$pauses" 0 1
expect 1 "nothing to stop" serve --stop
says err 'there is no server$'
expect 0 "start" serve
says out '^serving \(process [0-9]+\)$'
expect 0 "a second one" serve
says out '^there is a server already \(process [0-9]+\)$'
expect 1 "a second one in the foreground" serve --foreground
socket=$(echo "$dir"/runtime/lathe/*.socket)
what="permissions"
is "$(stat -c %a "$dir/runtime/lathe" "$socket" | tr '\n' ' ')" = "700 600 "
expect 0 "stop" serve --stop
what="what is left after the end"
is "$(ls runtime/lathe)" = lock
is "$(servers)" = ""
right "no daemon" --cache=none
right "no daemon there" --cache=none --server=none

# ------------------------------------------------------------------------------------------------------- many, one by one
pid=$(daemon)
right "the daemon is used" --cache=none
holds wait_until has_worked
before=$(resident_kib "$pid")
what="two hundred in a row"
wrong=0
for i in $(seq 200); do
    [ $((i % 10)) -eq 0 ] && where=none || where=$dir/cache
    run --cache="$where" "$pauses" 0 $((i % 64 + 1)) >out 2>err
    [ $? -eq 7 ] && [ ! -s err ] && "$pauses" 0 $((i % 64 + 1)) | cmp -s - out || wrong=$((wrong + 1))
done
is $wrong -eq 0

# ------------------------------------------------------------------------------------------------------------ many at once
what="twenty at once"
rm -rf "$dir/cache"
mkdir results
for i in $(seq 20); do
    { run "$pauses" 1 64 >"results/out$i" 2>"results/err$i"; echo $? >"results/status$i"; } &
done
wait
wrong=0
for i in $(seq 20); do
    cmp -s expected "results/out$i" && [ ! -s "results/err$i" ] && [ "$(cat "results/status$i")" -eq 7 ] || wrong=$((wrong + 1))
done
is $wrong -eq 0
what="each function is translated once"
is "$(records)" -ge 64 # of 66 functions
is "$(records)" -le 80
what="memory of the daemon"
after=$(resident_kib "$pid")
is "$after" -lt $((before + 2048))
what="copies end with their clients"
soon_left "$pid"

# --------------------------------------------------------------------------------------------------------------- intruders
expect 0 "rubbish" "$intruder" rubbish "$socket" 120
right "after rubbish" --cache=none
what="the daemon after rubbish"
soon_left "$pid"
is "$(daemon)" = "$pid"
mkfifo fifo
: >held
"$intruder" hold "$socket" 300 <fifo >held &
exec 9>fifo
wait_until grep -q holding held
has_copies() {
    [ "$(servers | wc -l)" -eq 301 ]
}
what="three hundred at once"
holds wait_until has_copies
before=$(used "$pid")
right "the client after three hundred" --cache=none
more_used() {
    [ "$(used "$pid")" -gt "$before" ]
}
holds wait_until more_used
exec 9>&-
soon_left "$pid"
expect 0 "stop" serve --stop
expect 0 "few clients" serve --clients=2
: >held
"$intruder" hold "$socket" 2 <fifo >held &
exec 9>fifo
wait_until grep -q holding held
has_two_copies() {
    [ "$(servers | wc -l)" -eq 3 ]
}
holds wait_until has_two_copies
right "one client too many" --cache=none
exec 9>&-
pid=$(daemon)
what="clients that are gone make room"
soon_left "$pid"
kill -STOP "$pid"
right "a daemon that does not answer" --cache=none
kill -CONT "$pid"
expect 0 "stop" serve --stop
LATHE_LIBEXEC=own expect 0 "a relative path of the programs" serve
pid=$(daemon)
soon_left "$pid"
mkdir other
cp "$client" "$server" other/
LATHE_LIBEXEC="$dir/other" expect 7 "a daemon of another build" run --server="$socket" --cache=none "$pauses" 0 64
says err '^lathe: the server is of another build; a server is started here$'
same out expected
LATHE_LIBEXEC="$dir/other" right "a daemon of another build, not asked for" --cache=none
expect 7 "no socket" run --server=./nothing "$pauses" 0 64
says err '^lathe: ./nothing: no server there; a server is started here$'

# ------------------------------------------------------------------------------------------------------ deaths in the middle
# cut COMMAND...: a run of a program in which COMMAND ends servers when the program has asked for some functions; true if it had not ended yet.
cut() {
    rm -rf cache
    [ -n "$LATHE_SERVER" ] || pid=$(daemon)
    begin "$what" run "$pauses" 20 64
    wait_until has_made 5
    kill -0 "$begun" 2>/dev/null
    gone=$?
    "$@" >/dev/null 2>&1
    ended 7
    same out expected
    silent err
    [ $gone -eq 0 ]
}

# while_asking WHAT COMMAND...: cut, again if the machine was so busy that it came too late.
while_asking() {
    what=$1
    shift
    holds wait_until cut "$@"
}

# The copy of the daemon, which is process $pid, is for one client.
kill_copies() {
    for id in $(servers); do
        [ "$id" = "$pid" ] || kill -9 "$id"
    done
}

kill_daemon() {
    kill -9 "$pid"
}
while_asking "the copy is killed" kill_copies
while_asking "the daemon is stopped" serve --stop
while_asking "the daemon is killed" kill_daemon
right "a socket without a daemon" --cache=none
what="the socket is taken over"
is -S "$socket"
pid=$(daemon)
soon_left "$pid"
while_asking "all are killed" no_servers

# ------------------------------------------------------------------------------------------------- a program that does not wait
"$pauses" 0 64 40000 >busy
"$pauses" 0 64 400000 >busier
expect 0 "start" serve
pid=$(daemon)
# How long an answer takes depends on what else there is to do, and times are counted in hundredths of a second: again, until both are seen.
hot_by_daemon() {
    LATHE_TIER=auto run --hot-after=2 --cache=none --stats=json "$pauses" 0 64 40000 >out 2>err
    [ $? -eq 7 ] && cmp -s out busy || wrong=$((wrong + 1))
    [ "$(figure translated)" -gt 0 ] && has_worked
}
what="hot functions are the daemon's"
wrong=0
holds wait_until hot_by_daemon
is $wrong -eq 0
# The daemon is killed as soon as it has a copy for the program, which then still asks; again, if the program has ended before.
has_copy() {
    [ "$(servers)" != "$pid" ] || ! kill -0 "$begun" 2>/dev/null
}
cut_hot() {
    pid=$(daemon)
    LATHE_TIER=auto begin "$what" run --hot-after=2 --cache=none "$pauses" 0 64 400000
    wait_until has_copy
    kill -0 "$begun" 2>/dev/null
    gone=$?
    no_servers
    ended 7
    same out busier
    silent err
    [ $gone -eq 0 ]
}
what="hot functions, and a daemon that is killed"
holds wait_until cut_hot

# ----------------------------------------------------------------------------------------------------------- time without work
expect 0 "a short life" serve --idle=1
what="the end of an idle daemon"
soon_left ""
is ! -e "$socket"
expect 0 "a short life" serve --idle=1
"$pauses" 0 3 >short
expect 7 "a program that asks seldom" run --cache=none "$pauses" 1700 3
same out short
silent err

# ----------------------------------------------------------------------------------------------------------- started on demand
wait_until left ""
what="start"
run --server=start --cache=none "$pauses" 0 64 2>err | cat >out
same out expected
silent err
expect 0 "started on demand" serve
says out '^there is a server already'
right "started on demand" --server=start --cache=none
expect 0 "stop" serve --stop

# ------------------------------------------------------------------------------------------------------------- wrong permissions
chmod 755 runtime/lathe
expect 1 "a directory that others can read" serve
says err 'is open to other users$'
right "a directory that others can read" --cache=none
chmod 700 runtime/lathe
mv runtime/lathe elsewhere
ln -s ../elsewhere runtime/lathe
expect 1 "a link" serve
says err 'not a directory$'
rm runtime/lathe
XDG_RUNTIME_DIR="$dir/nothing" expect 1 "no directory for that" serve
says err 'No such file or directory$'
XDG_RUNTIME_DIR="$dir/nothing" right "no directory for that" --cache=none
XDG_RUNTIME_DIR=/$(printf '%0100d' 0) expect 1 "a long path" serve
says err 'too long'
if [ "$(id -u)" -eq 0 ]; then
    mkdir -m 700 runtime/lathe
    chown 65534 runtime/lathe
    expect 1 "another user's directory" serve
    says err 'belongs to another user$'
    rmdir runtime/lathe
    : >heard
    "$intruder" listen "$dir/false.socket" 65534 >heard &
    liar=$!
    wait_until grep -q listening heard
    right "another user's server" --server="$dir/false.socket" --cache=none
    kill $liar
    says_not heard 'spoken to'
else
    skip "directories and servers of other users" "only root makes them"
fi

# --------------------------------------------------------------------------------------------------------------------- by ssh
mkdir bin far farhome
cp "$server" far/
ln -s "$lathe" bin/lathe
cat >bin/ssh <<END
#!/bin/sh
echo "\$*" >>"$dir/calls"
while [ "\$1" != -- ]; do shift; done
host=\$2
shift 2
[ "\$host" = nowhere ] && exit 255
exec env -i PATH="$dir/bin:\$PATH" HOME="$dir/farhome" LATHE_LIBEXEC="$dir/far" "\$@"
END
chmod +x bin/ssh
export PATH="$dir/bin:$PATH"
rm -rf cache
right "ssh" --server=ssh:far
is "$(wc -l <calls)" -eq 1
says calls '-- far lathe serve --stdio$'
is "$(ls -A farhome)" = ""
is "$(ls cache)" != ""
expect 7 "what came by ssh is kept" run --server=ssh:far --stats=json "$pauses" 0 64
counts translated -eq 0
is "$(wc -l <calls)" -eq 1
expect 7 "from here it is something else" run --stats=json "$pauses" 0 64
counts translated -gt 0
hot_by_ssh() {
    LATHE_TIER=auto run --hot-after=2 --server=ssh:far --cache=none --stats=json "$pauses" 0 64 40000 >out 2>err
    [ $? -eq 7 ] && cmp -s out busy || wrong=$((wrong + 1))
    [ "$(figure translated)" -gt 0 ]
}
what="hot functions by ssh"
wrong=0
holds wait_until hot_by_ssh
is $wrong -eq 0
expect 2 "ssh and Redis" run --server=ssh:far --cache=redis://localhost "$pauses" 0 1
expect 0 "stop" serve --stop --ssh=far
export LATHE_SERVER=ssh:far
server_folder=far
killed=0
while_asking "ssh that dies" no_servers
is "$killed" -gt 0
server_folder=own
unset LATHE_SERVER
serve --stop --ssh=far >/dev/null 2>&1
expect 7 "a host that is not there" run --server=ssh:nowhere --cache=none "$pauses" 0 64
says err "^lathe: no server by 'ssh nowhere lathe serve --stdio'; a server is started here\$"
same out expected
is "$(wc -l <err)" -eq 1
expect 1 "nothing stays" serve --stop --ssh=nowhere
soon_left ""

finish
