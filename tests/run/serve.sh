#!/bin/sh
# serve.sh LATHE CLIENT SERVER PAUSES INTRUDER MANDIR: `lathe serve`, and programs that use it: many in a row and at once, a daemon that
# is killed, rubbish, other users, and a server that is reached by a (false) ssh. PAUSES and INTRUDER are built from files of these names.
lathe=$(realpath "$1")
client=$(realpath "$2")
server=$(realpath "$3")
pauses=$(realpath "$4")
intruder=$(realpath "$5")
mandir=$(realpath "$6")
dir=$(mktemp -d) || exit 1
passed=0
failed=0
for name in $(env | sed -n 's/^\(LATHE_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
mkdir -m 700 "$dir/runtime" "$dir/own"
cp "$client" "$server" "$dir/own/" # so that this daemon is nobody else's
cd "$dir" || exit 1
export LC_ALL=C LATHE_LIBEXEC="$dir/own" LATHE_CACHE="$dir/cache" LATHE_TIER=opt XDG_RUNTIME_DIR="$dir/runtime"

# Processes of ours, also if their parent is gone.
servers() {
    for proc in /proc/[0-9]*; do
        [ "$(readlink "$proc/exe" 2>/dev/null)" = "$dir/own/lathe-server" ] && echo "${proc#/proc/}"
    done
}

kill_servers() {
    for id in $(servers); do
        kill -9 "$id" 2>/dev/null
    done
    wait_until none_left
}
trap '"$lathe" serve --stop >/dev/null 2>&1; kill_servers; rm -rf "$dir"' EXIT

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    echo "FAIL: $what: $1"
    head -n 3 out err
}

# expect STATUS WHAT COMMAND...: its output is then in out and err.
expect() {
    want=$1
    what=$2
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got -eq "$want" ]; then pass; else fail "exit status $got, not $want"; fi
}

# says FILE PATTERN: it has a line with it (an extended regular expression).
says() {
    if grep -Eq -- "$2" "$1"; then pass; else fail "$1 has no line with '$2'"; fi
}

silent() {
    if [ ! -s "$1" ]; then pass; else fail "$1 is not empty"; fi
}

# right WHAT OPTION...: the program runs, says what it should, and nothing else is said.
right() {
    name=$1
    shift
    expect 7 "$name" run "$@" "$pauses" 0 64
    if cmp -s out expected; then pass; else fail "another output"; fi
    silent err
}

run() {
    "$lathe" run "$@"
}

serve() {
    "$lathe" serve "$@"
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

# wait_until COMMAND...: at most ten seconds.
wait_until() {
    for _ in $(seq 100); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

none_left() {
    [ -z "$(servers)" ]
}

one_left() {
    [ "$(servers)" = "$pid" ]
}

has_worked() {
    [ "$(used "$pid")" -gt 0 ]
}

"$pauses" 0 64 >expected

# ------------------------------------------------------------------------------------------------------ beginning and end
expect 0 "help" serve --help
says out '^usage: lathe serve '
for option in $(sed -n 's/^  --*\([A-Za-z0-9-]*\).*/\1/p' out); do
    what="lathe-serve.1"
    if grep -Eq "^\.It Fl -?$option( |\$)" "$mandir/lathe-serve.1"; then pass; else fail "no $option"; fi
done
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
if [ "$(stat -c %a "$dir/runtime/lathe" "$socket" | tr '\n' ' ')" = "700 600 " ]; then pass; else fail "$(ls -la runtime/lathe)"; fi
expect 0 "stop" serve --stop
what="what is left after the end"
if [ "$(ls runtime/lathe)" = lock ] && none_left; then pass; else fail "$(ls runtime/lathe) $(servers)"; fi
right "no daemon" --cache=none
right "no daemon there" --cache=none --server=none

# ------------------------------------------------------------------------------------------------------- many, one by one
pid=$(daemon)
right "the daemon is used" --cache=none
what="the daemon is used"
if wait_until has_worked; then pass; else fail "no time used"; fi
before=$(resident_kib "$pid")
what="two hundred in a row"
wrong=0
for i in $(seq 200); do
    [ $((i % 10)) -eq 0 ] && where=none || where=$dir/cache
    run --cache="$where" "$pauses" 0 $((i % 64 + 1)) >out 2>err
    [ $? -eq 7 ] && [ ! -s err ] && "$pauses" 0 $((i % 64 + 1)) | cmp -s - out || wrong=$((wrong + 1))
done
if [ $wrong -eq 0 ]; then pass; else fail "$wrong are wrong"; fi

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
if [ $wrong -eq 0 ]; then pass; else fail "$wrong are wrong"; fi
what="each function is translated once"
records=$("$lathe" cache | sed -n 's/^[0-9]* packs, \([0-9]*\) records.*/\1/p')
if [ "$records" -ge 64 ] && [ "$records" -le 80 ]; then pass; else fail "$records records of 66 functions"; fi
what="memory of the daemon"
after=$(resident_kib "$pid")
if [ "$after" -lt $((before + 2048)) ]; then pass; else fail "$before KiB, then $after KiB"; fi
what="copies end with their clients"
if wait_until one_left; then pass; else fail "$(servers)"; fi

# --------------------------------------------------------------------------------------------------------------- intruders
expect 0 "rubbish" "$intruder" rubbish "$socket" 120
right "after rubbish" --cache=none
what="the daemon after rubbish"
if wait_until one_left && [ "$(daemon)" = "$pid" ]; then pass; else fail "$(servers)"; fi
expect 0 "stop" serve --stop
expect 0 "few clients" serve --clients=2
mkfifo fifo
: >held
"$intruder" hold "$socket" 2 <fifo >held &
exec 9>fifo
wait_until grep -q holding held
sleep 0.2
right "one client too many" --cache=none
exec 9>&-
pid=$(daemon)
what="clients that are gone make room"
if wait_until one_left; then pass; else fail "$(servers)"; fi
kill -STOP "$pid"
right "a daemon that does not answer" --cache=none
kill -CONT "$pid"
expect 0 "stop" serve --stop
LATHE_LIBEXEC=own expect 0 "a relative path of the programs" serve
pid=$(daemon)
if wait_until one_left; then pass; else fail "$(servers)"; fi
mkdir other
cp "$client" "$server" other/
LATHE_LIBEXEC="$dir/other" expect 7 "a daemon of another build" run --server="$socket" --cache=none "$pauses" 0 64
says err '^lathe: the server is of another build; a server is started here$'
cmp -s out expected && pass || fail "another output"
LATHE_LIBEXEC="$dir/other" right "a daemon of another build, not asked for" --cache=none
expect 7 "no socket" run --server=./nothing "$pauses" 0 64
says err '^lathe: ./nothing: no server there; a server is started here$'

# ------------------------------------------------------------------------------------------------------ deaths in the middle
# killed WHAT COMMAND...: while a program is asking, COMMAND ends servers.
killed() {
    what=$1
    shift
    run --cache=none "$pauses" 20 64 >out 2>err &
    guest=$!
    sleep 0.7
    "$@" >/dev/null 2>&1
    wait $guest
    status=$?
    if [ $status -eq 7 ] && cmp -s out expected && [ ! -s err ]; then pass; else fail "status $status"; fi
}

copies() {
    for id in $(servers); do
        [ "$id" = "$pid" ] || kill -9 "$id"
    done
}
pid=$(daemon)
killed "the copy is killed" copies
killed "the daemon is stopped" serve --stop
pid=$(daemon)
killed "the daemon is killed" kill -9 "$pid"
right "a socket without a daemon" --cache=none
what="the socket is taken over"
if [ -S "$socket" ] && pid=$(daemon) && wait_until one_left; then pass; else fail "$(ls -la runtime/lathe)"; fi
killed "all are killed" kill_servers

# ------------------------------------------------------------------------------------------------- a program that does not wait
"$pauses" 0 64 40000 >busy
expect 0 "start" serve
pid=$(daemon)
LATHE_TIER=auto expect 7 "hot functions" run --cache=none --stats=json "$pauses" 0 64 40000
if cmp -s out busy; then pass; else fail "another output"; fi
says err '"translated": [1-9]'
what="hot functions are the daemon's"
if wait_until has_worked; then pass; else fail "no time used"; fi
what="hot functions, and a daemon that is killed"
LATHE_TIER=auto run --cache=none "$pauses" 0 64 40000 >out 2>err &
guest=$!
sleep 0.1
kill_servers
wait $guest
status=$?
if [ $status -eq 7 ] && cmp -s out busy && [ ! -s err ]; then pass; else fail "status $status"; fi

# ----------------------------------------------------------------------------------------------------------- time without work
expect 0 "a short life" serve --idle=1
what="the end of an idle daemon"
if wait_until none_left && [ ! -e "$socket" ]; then pass; else fail "$(servers)"; fi
expect 0 "a short life" serve --idle=1
"$pauses" 0 3 >short
expect 7 "a program that asks seldom" run --cache=none "$pauses" 1700 3
if cmp -s out short; then pass; else fail "another output"; fi
silent err

# ----------------------------------------------------------------------------------------------------------- started on demand
wait_until none_left
what="start"
run --server=start --cache=none "$pauses" 0 64 2>err | cat >out
if cmp -s out expected; then pass; else fail "another output"; fi
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
    what="another user's server"
    if grep -q 'spoken to' heard; then fail "it heard something"; else pass; fi
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
what="ssh"
if [ "$(wc -l <calls)" -eq 1 ] && grep -q -- '-- far lathe serve --stdio$' calls; then pass; else fail "$(cat calls)"; fi
if [ -z "$(ls -A farhome)" ] && [ -n "$(ls cache)" ]; then pass; else fail "kept at the wrong place"; fi
expect 7 "what came by ssh is kept" run --server=ssh:far --stats=json "$pauses" 0 64
says err '"translated": 0,'
if [ "$(wc -l <calls)" -eq 1 ]; then pass; else fail "asked again"; fi
expect 7 "from here it is something else" run --stats=json "$pauses" 0 64
says err '"translated": [1-9]'
LATHE_TIER=auto expect 7 "hot functions by ssh" run --server=ssh:far --cache=none --stats=json "$pauses" 0 64 40000
if cmp -s out busy; then pass; else fail "another output"; fi
says err '"translated": [1-9]'
expect 2 "ssh and Redis" run --server=ssh:far --cache=redis://localhost "$pauses" 0 1
expect 0 "stop" serve --stop --ssh=far
LATHE_SERVER=ssh:far killed "ssh that dies" kill_servers
serve --stop --ssh=far >/dev/null 2>&1
expect 7 "a host that is not there" run --server=ssh:nowhere --cache=none "$pauses" 0 64
says err "^lathe: no server by 'ssh nowhere lathe serve --stdio'; a server is started here\$"
if cmp -s out expected && [ "$(wc -l <err)" -eq 1 ]; then pass; else fail "another output"; fi
expect 1 "nothing stays" serve --stop --ssh=nowhere
what="nothing stays"
if wait_until none_left; then pass; else fail "$(servers)"; fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
