#!/bin/sh
# redis.sh LATHE CLIENT SERVER BIN: the shared cache, with Redis servers of its own: what one run made, another one with an empty
# directory, another copy of the program and another installation of Lathe does not make again; and whatever is wrong with Redis, the
# program runs, after a short wait and one line of warning. BIN has the guest programs.
lathe=$(realpath "$1")
client=$(realpath "$2")
server=$(realpath "$3")
bin=$(realpath "$4")
. "$(dirname "$0")/../check.sh"
if ! command -v redis-server >/dev/null || ! command -v redis-cli >/dev/null; then
    skip_all "there is no redis-server here (Debian: apt-get install redis-server)"
fi
export LATHE_SERVER=none HOME="$dir" XDG_RUNTIME_DIR="$dir"
unset XDG_CACHE_HOME
started=""
spaces=""

clean_up() {
    "$lathe" serve --stop >/dev/null 2>&1
    for pid in $started; do
        kill -CONT "$pid" 2>/dev/null
        kill -9 "$pid" 2>/dev/null
    done
    for space in $spaces; do
        ip netns del "$space" 2>/dev/null
    done
}

is_ready() {
    grep -q 'eady to accept connections' redis.log
}

is_ready_or_gone() {
    is_ready || [ ! -e "/proc/$redis/exe" ]
}

# redis [WORD...]: starts a server on a free port, whose number is then in $port, and its process in $redis. It is in the network
# namespace $space, if that is not empty.
redis() {
    for port in $(seq $((20000 + $$ % 20000)) $((20050 + $$ % 20000))); do
        redis-cli -p "$port" ping >/dev/null 2>&1 && continue
        : >redis.log
        ${space:+ip netns exec "$space"} redis-server --port "$port" --bind "${address:-127.0.0.1}" --save '' --appendonly no \
            --dir "$dir" "$@" >redis.log 2>&1 &
        redis=$!
        wait_until is_ready_or_gone
        is_ready && started="$started $redis" && return
        kill -9 "$redis" 2>/dev/null
    done
    echo "FAIL: no Redis server can be started: $(tail -n 1 redis.log)"
    exit 1
}

ask() {
    redis-cli -p "$port" --no-auth-warning ${password:+-a "$password"} -n "${db:-0}" "$@"
}

# runs STATUS WHAT CACHE WORD...: `lathe run --tier=opt --stats=json --cache=CACHE WORD...`, all functions through the server.
runs() {
    ends=$1
    name=$2
    cache=$3
    shift 3
    began=$(date +%s%N)
    expect "$ends" "$name" ${space:+ip netns exec "$space"} "$lathe" run --tier=opt --stats=json --cache="$cache" "$@"
    took_ms=$((($(date +%s%N) - began) / 1000000))
}

compiles_nothing() {
    counts translated -gt 0
    counts from_shared -eq "$(figure translated)"
    counts lift_us -eq 0
    counts optimize_us -eq 0
    counts emit_us -eq 0
}

# warned PATTERN: one line of warning, which has it.
warned() {
    is "$(grep -c '^lathe: ' err)" -eq 1
    says err "^lathe: the shared cache redis.* is not used in this run: .*$1"
}

quiet() {
    says_not err '^lathe: '
}

# within MS: the last run took no longer than that for Redis, beside what it takes anyway on a machine that may be busy.
within() {
    is "$took_ms" -lt $(($1 + 4 * usual_ms))
}

# All entries are signed, but where that is what is tested.
export LATHE_CACHE_SECRET=the-word-of-the-team

small=$bin/pages-30 # some functions, no libraries: exit status 30
each=$bin/each      # starts programs

runs 30 "without Redis" none "$small"
usual_ms=$took_ms

# ------------------------------------------------------------------------------------------------------------ what is shared
password='ge:h@eim/%'
db=3
redis --requirepass "$password" --enable-debug-command yes
url="redis://:ge:h@eim/%25@127.0.0.1:$port/3"
runs 30 "a first run" "$dir/c1,$url" "$small"
quiet
counts from_shared -eq 0
counts translated -gt 10
functions=$(figure translated)
what="one entry for each function"
is "$(ask dbsize)" -eq "$functions"
runs 30 "a second run with another directory" "$dir/c2,$url" "$small"
quiet
compiles_nothing
runs 30 "a third run, from the directory" "$dir/c2,$url" "$small"
counts translated -eq 0
counts from_image -eq "$functions"
runs 30 "without a directory" "none,$url" "$small"
compiles_nothing
runs 30 "without a directory, again" "none,$url" "$small"
compiles_nothing
runs 30 "with the usual directory" "$url" "$small"
compiles_nothing
is "$(find .cache/lathe -name '*.pack')" != ""
mkdir other
cp "$client" "$server" "${server%/*}/lathe-redis.so" other/
cp "$small" other/program
LATHE_LIBEXEC="$dir/other" runs 30 "another installation, another copy" "$dir/c3,$url" other/program
compiles_nothing
LATHE_REDIS_PASSWORD=$password runs 30 "the password as a variable" "none,redis://127.0.0.1:$port/3" "$small"
compiles_nothing
ask acl setuser someone on '>word' '~lathe:*' +get +set +select >/dev/null
runs 30 "a user" "none,redis://someone:word@127.0.0.1:$port/3" "$small"
compiles_nothing
runs 30 "other options" "none,$url" --opt=quick "$small"
counts from_shared -eq 0
runs 30 "other options again" "none,$url" --opt=quick "$small"
compiles_nothing
LATHE_CACHE="$dir/c9,$url" expect 0 "lathe cache knows the local part" "$lathe" cache path
is "$(cat out)" = "$dir/c9"

# --------------------------------------------------------------------------------------------------------------- the daemon
# Its clients name their own caches to it.
ask flushdb >/dev/null
LATHE_SERVER=start runs 30 "a daemon, first run" "none,$url" "$small"
quiet
counts from_shared -eq 0
LATHE_SERVER=start runs 30 "a daemon, second run" "none,$url" "$small"
compiles_nothing
LATHE_SERVER=start runs 0 "a daemon, without Redis" "none,redis://127.0.0.1:1" "$each" "$small" "$small"
warned refused
expect 0 "the end of the daemon" "$lathe" serve --stop

# -------------------------------------------------------------------------------------------------------- where passwords are
# keys NUMBER: there are so many, or process $begun, which should make them, has ended.
keys() {
    [ "$(ask dbsize)" -ge "$1" ] || ! kill -0 "$begun" 2>/dev/null
}
ask flushdb >/dev/null
begin "the password in arguments" "$lathe" run --tier=opt --cache="none,$url" "$bin/pauses" 1000000 2
holds wait_until keys 1
holds kill -0 "$begun"
grep -als eim /proc/[0-9]*/cmdline >shown
silent shown
kill "$begun"
wait "$begun" 2>/dev/null
runs 0 "the guest's environment" "none,$url" env
says_not out 'eim|SHARED_SECRET|word-of-the-team'
runs 30 "a program started without environment" "none,$url" env -i "$small"
quiet

# ------------------------------------------------------------------------------------------------------------ wrong entries
each_key() {
    ask --scan --pattern 'lathe:*' | sed "$1" | ask >/dev/null
}
ask flushdb >/dev/null
runs 30 "before damage" "none,$url" "$small"
for place in 0 4 24 70 200 -1; do
    at=$place
    [ "$place" = -1 ] && at=$(($(ask strlen "$(ask randomkey)") - 3))
    each_key "s/.*/setrange & $at XYZ/"
    runs 30 "entries damaged at $place" "none,$url" "$small"
    quiet
    counts from_shared -eq 0
    runs 30 "entries mended after damage at $place" "none,$url" "$small"
    compiles_nothing
done
each_key 's/.*/set & short/'
runs 30 "short entries" "none,$url" "$small"
counts from_shared -eq 0
each_key 's/.*/append & "and more"/'
runs 30 "entries with a tail" "none,$url" "$small"
counts from_shared -eq 0
# What somebody else puts there is whole, of the right function, and has a right checksum; only a signature is what he cannot make.
LATHE_CACHE_SECRET=another-word-of-others runs 30 "another key" "none,$url" "$small"
counts from_shared -eq 0
quiet
runs 30 "the key again" "none,$url" "$small"
compiles_nothing
what="a signature whose last byte is another"
for key in $(ask --scan --pattern 'lathe:*'); do
    last=$(($(ask strlen "$key") - 1))
    byte=$(ask --raw getrange "$key" $last $last | head -c 1 | od -An -tu1 | awk '{ print ($1 + 1) % 256 }')
    ask eval 'return redis.call("setrange", KEYS[1], ARGV[1], string.char(ARGV[2]))' 1 "$key" "$last" "$byte" >/dev/null
done
runs 30 "signatures that are wrong" "none,$url" "$small"
quiet
counts from_shared -eq 0
runs 30 "mended signatures" "none,$url" "$small"
compiles_nothing
echo a-word-of-the-team-in-a-file >key
chmod 600 key
LATHE_CACHE_KEY=$dir/key runs 30 "a key in a file" "none,$url" "$small"
quiet
counts from_shared -eq 0
LATHE_CACHE_SECRET=a-word-of-the-team-in-a-file runs 30 "the same key as a variable" "none,$url" "$small"
compiles_nothing
runs 0 "programs that another one starts have the key" "none,$url" "$each" "$small"
quiet
is "$(grep -c "\"from_shared\": $functions," err)" -eq 1
# no_key PATTERN COMMAND...: nothing runs.
no_key() {
    pattern=$1
    shift
    refuses "no key: $pattern" "^lathe: the key of the shared cache: .*$pattern" "$@"
}
chmod 644 key
no_key 'others can read or write it' "$lathe" run --cache="none,$url" --cache-key=key "$small"
no_key 'No such file' "$lathe" run --cache="none,$url" --cache-key=nothing "$small"
no_key 'fewer than 16' env LATHE_CACHE_SECRET= "$lathe" run --cache="none,$url" "$small"
no_key 'a space' env LATHE_CACHE_SECRET='a key that has words' "$lathe" run --cache="none,$url" "$small"
no_key 'more than 255' env LATHE_CACHE_SECRET="$(printf '%0256d' 0)" "$lathe" run --cache="none,$url" "$small"
expect 0 "without a key" env -u LATHE_CACHE_SECRET "$lathe" run --tier=opt --cache="none,$url" "$each" "$small" "$small"
is "$(grep -c '^lathe: the shared cache redis://127.0.0.1:.* is used without a key (--cache-key)' err)" -eq 1
is "$(wc -l <err)" -eq 1
ask flushdb >/dev/null
runs 30 "before one entry for all" "none,$url" "$small"
first=$(ask --scan --pattern 'lathe:*' | head -n 1)
each_key "s/.*/copy $first & replace/"
runs 30 "one entry under all keys" "none,$url" "$small"
counts from_shared -eq 1
# The server keeps the last functions while the program ends, and may be cut off then: what was not kept is when the program runs again.
all_are_kept() {
    [ "$(ask dbsize)" -ge "$functions" ] && return
    "$lathe" run --tier=opt --cache="none,$url" "$small" >/dev/null 2>&1
    false
}
each_key 's/.*/del &/'
runs 30 "a program" "none,$url" "$small"
holds wait_until all_are_kept
before=$(ask dbsize)
runs 40 "another one that differs far from what keys name" "none,$url" "$bin/pages-40"
what="both have the same keys"
is "$(ask dbsize)" -eq "$before"
counts from_shared -eq $((functions - 1))
ask flushdb >/dev/null
runs 30 "fill again" "none,$url" "$small"
each_key 's/.*/rename & list:&/'
ask --scan | sed 's/list:\(.*\)/lpush \1 x/' | ask >/dev/null
runs 30 "keys of another type" "none,$url" "$small"
warned WRONGTYPE

# ----------------------------------------------------------------------------------------------------------- trouble with it
mv other/lathe-redis.so .
LATHE_LIBEXEC="$dir/other" runs 30 "a part of Lathe is missing" "none,$url" "$small"
warned lathe-redis.so
mv lathe-redis.so other/
runs 30 "a wrong password" "none,redis://:wrong@127.0.0.1:$port" "$small"
warned WRONGPASS
runs 30 "no password" "none,redis://127.0.0.1:$port" "$small"
warned NOAUTH
runs 30 "no such database" "none,redis://:ge:h@eim/%25@127.0.0.1:$port/999" "$small"
warned 'DB index'
runs 30 "a closed port" "none,redis://127.0.0.1:1" "$small"
warned refused
within 5000
runs 30 "no such host" "none,redis://no-such-host.invalid" "$small"
warned .
within 5000
runs 0 "many processes" "$dir/c5,redis://127.0.0.1:1" -0 'each&' "$each" "$small" "$small" "$small" "$bin/pages-40" "$small"
warned refused
runs 0 "many processes without directory" "none,redis://127.0.0.1:1" "$each" "$small" "$small" "$bin/pages-40"
warned refused
ask config set maxmemory 1 >/dev/null
ask flushall >/dev/null
runs 30 "a full one" "none,$url" "$small"
quiet
ask config set maxmemory 0 >/dev/null
# As long as the file is there, Redis answers one request in a fifth of a second.
: >slow
while [ -e slow ]; do ask debug sleep 0.2; done >/dev/null 2>&1 &
slowing=$!
is_slow() {
    asked=$(date +%s%N)
    ask ping >/dev/null
    [ $((($(date +%s%N) - asked) / 1000000)) -ge 100 ]
}
what="a slow one"
holds wait_until is_slow
runs 30 "a slow one" "none,$url" "$small"
warned 'too slow|in time'
within 8000
rm slow
wait $slowing
kill -STOP "$redis"
runs 30 "one that hangs" "none,$url" "$small"
warned 'in time'
within 5000
kill -CONT "$redis"

# cut SIGNAL: Redis gets it in the middle of a run.
cut() {
    ask flushdb >/dev/null
    begin "SIG$1 in the middle" "$lathe" run --tier=opt --cache="none,$url" "$bin/pauses" 50 64
    holds wait_until keys 5
    kill -"$1" "$redis"
    ended 7
    same out expected
    warned .
}
"$bin/pauses" 0 64 >expected
cut STOP
kill -CONT "$redis"
cut KILL
wait "$redis" 2>/dev/null

# ---------------------------------------------------------------------------------------------------------- wrong addresses
refused() {
    runs 1 "$1" "$1" "$small"
    says err '^lathe: the shared cache: '
    one_line
}
refused redis://
refused redis://host:port
refused redis://host/name
refused none,redis://someone@host

# --------------------------------------------------------------------------------------------------------------------- TLS
password=
db=0
if command -v openssl >/dev/null && ! "$lathe" run --cache=rediss://127.0.0.1:1 true 2>&1 | grep -q 'no TLS'; then
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=lathe-test \
        -addext subjectAltName=IP:127.0.0.1 2>/dev/null
    redis
    kill -9 "$redis"
    wait "$redis" 2>/dev/null
    plain=$port
    redis --port 0 --tls-port "$plain" --tls-cert-file cert.pem --tls-key-file key.pem --tls-ca-cert-file cert.pem
    export LATHE_REDIS_CACERT="$dir/cert.pem" LATHE_REDIS_CERT="$dir/cert.pem" LATHE_REDIS_KEY="$dir/key.pem"
    runs 30 "TLS, first run" "none,rediss://127.0.0.1:$plain" "$small"
    quiet
    runs 30 "TLS, second run" "none,rediss://127.0.0.1:$plain" "$small"
    compiles_nothing
    runs 30 "TLS, a certificate of another name" "none,rediss://localhost:$plain" "$small"
    warned 'ostname|refused'
    unset LATHE_REDIS_CERT LATHE_REDIS_KEY
    runs 30 "TLS, no certificate of our own" "none,rediss://127.0.0.1:$plain" "$small"
    warned .
    LATHE_REDIS_CACERT="$dir/nothing" runs 30 "TLS, no file of authorities" "none,rediss://127.0.0.1:$plain" "$small"
    warned 'LATHE_REDIS_CACERT'
    unset LATHE_REDIS_CACERT
    runs 30 "TLS, an unknown authority" "none,rediss://127.0.0.1:$plain" "$small"
    warned 'self.signed'
    runs 30 "no TLS where there is" "none,redis://127.0.0.1:$plain" "$small"
    warned .
    kill -9 "$redis"
    wait "$redis" 2>/dev/null
    redis
    runs 30 "TLS where there is none" "none,rediss://127.0.0.1:$port" "$small"
    warned .
    kill -9 "$redis"
    wait "$redis" 2>/dev/null
else
    skip TLS "this build, Redis or the openssl command has none"
fi

# ---------------------------------------------------------------------------------------------------------------- two hosts
# Three network namespaces: Redis in one, a run with its own cache in each of the two others.
hub=lathe-$$-hub
linked=no
if [ "$(id -u)" -eq 0 ] && command -v ip >/dev/null && ip netns add "$hub" 2>/dev/null; then
    spaces=$hub
    linked=yes
    for n in 1 2; do
        ip netns add "lathe-$$-$n" && spaces="$spaces lathe-$$-$n"
        ip -n "$hub" link add "to$n" type veth peer name wire netns "lathe-$$-$n" &&
            ip -n "$hub" address add "10.71.$n.1/24" dev "to$n" && ip -n "$hub" link set "to$n" up &&
            ip -n "lathe-$$-$n" address add "10.71.$n.2/24" dev wire && ip -n "lathe-$$-$n" link set wire up || linked=no
    done
fi
if [ "$linked" = yes ]; then
    space=$hub
    address=0.0.0.0
    redis --requirepass word --protected-mode no
    space=lathe-$$-1
    runs 0 "the first host" "$dir/host1,redis://:word@10.71.1.1:$port" true
    quiet
    counts translated -gt 100
    runs 30 "the first host, a program without libraries" "$dir/host1,redis://:word@10.71.1.1:$port" "$small"
    space=lathe-$$-2
    runs 0 "the second host compiles nothing" "$dir/host2,redis://:word@10.71.2.1:$port" true
    quiet
    compiles_nothing
    # Where the stack has its strings, which other words and variables move, decides what the C library calls: a copy of true
    # needs now and then a function that true did not.
    LATHE_LIBEXEC="$dir/other" runs 30 "nor with an installation of its own" "$dir/host3,redis://:word@10.71.2.1:$port" other/program
    compiles_nothing
    runs 30 "a host that does not answer at all" "none,redis://10.71.2.77" "$small"
    warned .
    within 5000
    ip -n "lathe-$$-2" route add default via 10.71.2.77
    runs 30 "a name server that does not answer" "none,redis://some.host.example" "$small"
    warned 'looked up|name'
    within 5000
    ip -n "$hub" link set to2 down
    runs 30 "a network that is down" "none,redis://:word@10.71.2.1:$port" "$small"
    warned .
    within 5000
    space=
else
    skip "two hosts" "network namespaces need root and the command ip"
fi

finish
