#!/bin/sh
# errors.sh LATHE CLIENT SERVER BIN: what is visible of `lathe run`'s options, and of faults: files that are no programs, a server
# that dies. BIN has the guest programs.
lathe=$(realpath "$1")
client=$(realpath "$2")
server=$(realpath "$3")
bin=$(realpath "$4")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C LATHE_CACHE="$dir/cache"
passed=0
failed=0

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
    if [ $got -eq "$want" ]; then passed=$((passed + 1)); else fail "exit status $got, not $want"; fi
}

# says FILE PATTERN: it has a line with it (an extended regular expression).
says() {
    if grep -Eq -- "$2" "$1"; then passed=$((passed + 1)); else fail "$1 has no line with '$2'"; fi
}

silent() {
    if [ ! -s "$1" ]; then passed=$((passed + 1)); else fail "$1 is not empty"; fi
}

run() {
    "$lathe" run "$@"
}

# ------------------------------------------------------------------------------------------------- files of all kinds
true=/usr/bin/true
expect 127 "no such file" run ./nothing
says err '^lathe: ./nothing: '
expect 127 "no such program" run no-such-program-in-path
expect 126 "a directory" run "$dir"
says err '^lathe: '
echo text >plain
expect 126 "not executable" run ./plain
says err '^lathe: ./plain: '
chmod +x plain
expect 126 "not ELF, no #!" run ./plain
says err '^lathe: '
: >empty
chmod +x empty
expect 126 "an empty file" run ./empty
says err '^lathe: '
printf '#!/bin/sh\necho "script $0 $1"\nexit 4\n' >script
chmod +x script
expect 4 "a script" run ./script word
says out '^script ./script word$'
printf '#!/no/such/interpreter\n' >lost
chmod +x lost
expect 127 "a script without its interpreter" run ./lost
says err '^lathe: '

# damaged FILE OFFSET OCTAL: a copy of true, with bytes changed
damaged() {
    cp "$true" "$1"
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
damaged machine 18 '\267\000'
expect 126 "ELF for another machine" run ./machine
says err '^lathe: '
damaged class 4 '\001'
expect 126 "ELF of 32 bits" run ./class
says err '^lathe: '
damaged type 16 '\001\000'
expect 126 "an object file" run ./type
says err '^lathe: '
damaged headers 32 '\377\377\377\377\377\377\377\177'
expect 126 "program headers far away" run ./headers
says err '^lathe: '
for size in 1 20 64 200; do
    head -c $size "$true" >short
    chmod +x short
    expect 126 "the first $size bytes of a program" run ./short
    says err '^lathe: '
done
sed 's|/lib64/ld-linux|/lib64/no-linux|' "$true" >interpreter
chmod +x interpreter
expect 127 "a missing interpreter" run ./interpreter
says err '^lathe: '

# -------------------------------------------------------------------------------------------------------------- options
expect 0 "true" run true
silent out
silent err
expect 1 "false" run -- false
expect 0 "argv[0]" run -0 other sh -c 'echo "$0"'
says out '^other$'
expect 0 "a variable set" run -E LATHE_TEST=value -U HOME env
says out '^LATHE_TEST=value$'
what="a variable removed"
if grep -q '^HOME=' out; then fail "HOME is there"; else passed=$((passed + 1)); fi
expect 0 "statistics" run --stats true
says err 'functions'
expect 0 "statistics as JSON" run --stats=json true
says err '^\{.*\}$'
silent out
expect 0 "statistics of a program that closes standard error" run --stats=json ls
says err '^\{.*\}$'
expect 0 "system calls" run --strace true
says err '(^|[ ])(brk|mmap)\('
says err 'exit_group\(0\)'
expect 3 "programs that it starts" run sh -c 'sh -c "exit 3"'
expect 3 "programs that it starts, untranslated" run --no-follow sh -c 'sh -c "exit 3"; exit $?'
LATHE_STATS=json expect 0 "an option as a variable" run true
says err '^\{.*\}$'
expect 0 "no cache" run --cache=none true
expect 0 "quick optimisation" run --opt=quick --cache=none seq 3
says out '^3$'
chmod 0 cache 2>/dev/null
expect 0 "a cache without permission" run true
chmod 755 cache
expect 0 "a cache that cannot be" run --cache=/proc/no/such true

# ------------------------------------------------------------------------------------------------------------- the vdso
# Where the guest has one, the time costs no system calls, and a second run nothing of the server.
if LD_SHOW_AUXV=1 $true | grep -q AT_SYSINFO_EHDR && grep -qw rdpid /proc/cpuinfo; then
    expect 0 "the time" run --strace "$bin/gcc2-clocks"
    calls=$(grep -c 'clock_gettime(1,' err)
    if [ "$calls" -lt 10 ]; then passed=$((passed + 1)); else fail "$calls system calls for the time"; fi
    LATHE_TIER=opt expect 0 "the time, first run" run "$bin/gcc2-clocks"
    LATHE_TIER=opt expect 0 "the time, second run" run --stats=json "$bin/gcc2-clocks"
    says err '"translated": 0,'
fi

# ------------------------------------------------------------------------------------------------- what is not there yet
expect 0 "a handler of SIGSEGV" run "$bin/gcc2-faults"
expect 139 "a handler of SIGSEGV in optimised code" run --tier=opt "$bin/gcc2-faults"
says err '^lathe: .*not supported yet$'

# ------------------------------------------------------------------------------------------------------- a server that dies
# A server of our own, so that no other one is killed.
what="a server killed in the middle"
mkdir own
cp "$client" "$server" own/
servers() {
    for proc in /proc/[0-9]*; do
        [ "$(readlink "$proc/exe" 2>/dev/null)" = "$dir/own/lathe-server" ] && echo "${proc#/proc/}"
    done
}
"$bin/gcc2-hashes" >expected
LATHE_LIBEXEC="$dir/own" "$lathe" run --tier=opt --cache=none "$bin/gcc2-hashes" >out 2>err &
pid=$!
killed=0
while [ $killed -lt 2 ] && kill -0 $pid 2>/dev/null; do
    sleep $((2 * killed)).5 # a request that fails twice is given up: the second one is to be another
    for id in $(servers); do
        kill -9 "$id" 2>/dev/null && killed=$((killed + 1))
    done
done
wait $pid
status=$?
if [ $status -eq 0 ] && cmp -s out expected && [ $killed -gt 0 ]; then
    passed=$((passed + 1))
else
    fail "status $status after $killed kills"
fi

# ------------------------------------------------------------------------------------------------------- a client that dies
what="servers of clients that are killed"
left=0
for delay in 0.3 0.7 1.2; do
    LATHE_TIER=opt LATHE_LIBEXEC="$dir/own" "$lathe" run --cache=none "$bin/gcc2-hashes" >out 2>err &
    pid=$!
    sleep $delay
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    sleep 0.2
    left=$((left + $(servers | wc -l)))
done
if [ $left -eq 0 ]; then passed=$((passed + 1)); else fail "$left of 3 go on"; fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
