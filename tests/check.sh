# shellcheck shell=sh
# check.sh: the words of tests that are shell scripts. Such a script takes its arguments, with paths made absolute ($lathe is the command,
# $mandir has the manual pages), and then reads this file:
#
#     . "$(dirname "$0")/../check.sh"
#
# From there on it is in $dir, an empty directory of its own, in the C locale, without LATHE_* variables. Each of these words is a check
# and counts as passed or failed:
#
#     expect STATUS WHAT COMMAND...  the command ends with the status; what it printed is then in the files out and err
#     ended STATUS                   so does process $begun, which `begin WHAT COMMAND...` started
#     says FILE PATTERN              a line of the file matches the extended regular expression; says_not: none does
#     silent FILE                    the file is empty
#     one_line                       err is one line, and out is empty
#     refuses WHAT PATTERN COMMAND...  the input's fault: status 1, one line of message with the pattern, and nothing else
#     same FILE FILE                 the files are equal
#     is ARGUMENT...                 `[ ARGUMENT... ]`
#     holds COMMAND...               the command succeeds
#     counts NAME OPERATOR NUMBER    a figure of --stats=json, such as: counts translated -eq 0
#     documented COMMAND             --help of this command of lathe, and all options of it in the manual page
#
# They say FAIL: $what, which expect and begin set, and scripts where these do not fit. A script makes further words of these, or with pass
# and `fail MESSAGE`; says `skip WHAT REASON` where a part cannot be checked here, and `skip_all REASON` where nothing can; defines clean_up if
# it leaves more than files; and ends with finish.
passed=0
failed=0
what="the beginning"
for name in $(env | sed -n 's/^\(LATHE_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
# Nothing goes on when a program has ended, but where that is what is tested.
export LC_ALL=C LATHE_COMPILE_AFTER=0

clean_up() {
    :
}
dir=$(mktemp -d) || exit 1
trap 'clean_up; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir" || exit 1

finish() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ] && [ $passed -gt 0 ]
}

# scripts/test prints lines that begin like this, and counts them.
skip() {
    echo "skip $1: $2"
}

skip_all() {
    echo "skip: $1"
    exit 77
}

# ----------------------------------------------------------------------------------------------------------------- checks
pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    echo "FAIL: $what: $1"
    head -n 5 out err 2>/dev/null
}

expect() {
    want=$1
    what=$2
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got -eq "$want" ]; then pass; else fail "exit status $got, not $want"; fi
}

# A program, unlike a function, is itself $begun and can be killed by that.
begin() {
    what=$1
    shift
    "$@" >out 2>err </dev/null &
    begun=$!
}

ended() {
    wait "$begun"
    got=$?
    if [ $got -eq "$1" ]; then pass; else fail "exit status $got, not $1"; fi
}

says() {
    if grep -Eq -- "$2" "$1"; then pass; else fail "$1 has no line with '$2'"; fi
}

says_not() {
    if grep -Eq -- "$2" "$1"; then fail "$1 has a line with '$2'"; else pass; fi
}

silent() {
    if [ ! -s "$1" ]; then pass; else fail "$1 is not empty"; fi
}

one_line() {
    if [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ]; then pass; else fail "not one line of message"; fi
}

refuses() {
    wrong=$1
    pattern=$2
    shift 2
    expect 1 "$wrong" "$@"
    says err "$pattern"
    one_line
}

same() {
    if cmp -s "$1" "$2"; then pass; else fail "$1 and $2 differ"; fi
}

is() {
    if [ "$@" ]; then pass; else fail "not so: $*"; fi
}

holds() {
    if "$@"; then pass; else fail "not so: $*"; fi
}

# figure NAME: a number of --stats=json in err, of the process that ended last.
figure() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" err | tail -n 1
}

counts() {
    if test "$(figure "$1")" "$2" "$3"; then pass; else fail "$1 is $(figure "$1"), not $2 $3"; fi
}

documented() {
    expect 0 "help of $1" "${lathe:?}" "$1" --help
    says out "^usage: lathe $1 "
    sed -n 's/^  --*\([A-Za-z0-9-]*\).*/\1/p' out >options
    while read -r option; do
        says "${mandir:?}/lathe-$1.1" "^\.It Fl -?$option( |\$)"
    done <options
}

# --------------------------------------------------------------------------------------------------------- what checks use
run() {
    "${lathe:?}" run "$@"
}

# own_server CLIENT SERVER: copies of both are used from now on, and a cache and a daemon that are this script's alone.
own_server() {
    mkdir -m 700 runtime own
    cp "$1" "$2" own/
    export LATHE_LIBEXEC="$dir/own" LATHE_CACHE="$dir/cache" XDG_RUNTIME_DIR="$dir/runtime"
}

# servers: the processes of own/lathe-server, a copy which is this script's alone, also if their parents are gone. $server_folder can be another one.
server_folder=own
servers() {
    for proc in /proc/[0-9]*; do
        [ "$(readlink "$proc/exe" 2>/dev/null)" = "$dir/$server_folder/lathe-server" ] && echo "${proc#/proc/}"
    done
}

# kill_servers: as many as there are; how many that was is added to $killed.
killed=0
kill_servers() {
    for id in $(servers); do
        kill -9 "$id" 2>/dev/null && killed=$((killed + 1))
    done
}

# left PROCESSES: the servers are these, or none if it is empty; soon_left is a check that they are before long.
left() {
    [ "$(servers)" = "$1" ]
}

soon_left() {
    wait_until left "$1"
    is "$(servers)" = "$1"
}

# records: how many functions are in the cache.
records() {
    "$lathe" cache | sed -n 's/^[0-9]* packs, \([0-9]*\) records.*/\1/p'
}

# has_made NUMBER: there are as many functions in the cache, or process $begun, which should have them made, has ended.
has_made() {
    [ "$(records)" -ge "$1" ] || ! kill -0 "$begun" 2>/dev/null
}

# settle FILE...: waits until these programs are old enough for images, which are not made of one that was changed (ctime) in the last two seconds.
settle() {
    for file in "$@"; do
        while [ $(($(stat -c %Z "$file") + 2)) -ge "$(date +%s)" ]; do
            sleep 0.1
        done
    done
}

# wait_until COMMAND...: until it succeeds, at most two minutes: as long as no machine needs, however busy it is.
wait_until() {
    set -- $(($(date +%s) + 120)) "$@" # no variable: the command may wait itself
    until without_first "$@"; do
        [ "$(date +%s)" -lt "$1" ] || return 1
        sleep 0.1
    done
}

without_first() {
    shift
    "$@"
}

# patch FILE OFFSET BYTES: writes them there; \0ooo is a byte in octal.
patch() {
    printf %b "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
