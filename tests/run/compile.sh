#!/bin/sh
# compile.sh LATHE SERVER GUESTS MANDIR: `lathe compile`: what it finds, that runs then translate nothing, faults, and interruption.
# GUESTS has the sources of ahead.c.
lathe=$(realpath "$1")
server=$(realpath "$2")
guests=$(realpath "$3")
mandir=$(realpath "$4")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
for name in $(env | sed -n 's/^\(LATHE_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
export LC_ALL=C LATHE_CACHE="$dir/cache"
passed=0
failed=0

fail() {
    failed=$((failed + 1))
    echo "FAIL: $what: $1"
    head -n 5 out err
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

says() {
    if grep -Eq -- "$2" "$1"; then passed=$((passed + 1)); else fail "$1 has no line with '$2'"; fi
}

same() {
    if cmp -s "$1" "$2"; then passed=$((passed + 1)); else fail "$1 and $2 differ"; fi
}

# figure NAME: a number of --stats=json in err.
figure() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" err
}

is() {
    if [ "$@" ]; then passed=$((passed + 1)); else fail "$*"; fi
}

# -------------------------------------------------------------------------------------------------------------- programs
flags="-w -O2 -nostdlib -ffreestanding -fno-stack-protector -fcf-protection=none"
gcc $flags -fno-pie -no-pie -static "$guests/ahead.c" -o fixed &&
    gcc $flags -fno-pie -no-pie -static -s "$guests/ahead.c" -o stripped &&
    gcc $flags -fno-pie -no-pie -static -DHANDLER "$guests/ahead.c" -o handler &&
    mkdir libs && gcc $flags -fPIC -shared "$guests/ahead_library.c" -o libs/libahead.so &&
    gcc $flags -fPIE -pie -DLIBRARY "$guests/ahead.c" -Llibs -lahead -Wl,--enable-new-dtags,-rpath,'$ORIGIN/libs' -o dynamic &&
    gcc $flags -fPIE -pie -DLIBRARY "$guests/ahead.c" -Llibs -lahead -o lost || exit 1
./fixed >expected || exit 1
./dynamic >expected-dynamic || exit 1

for program in fixed stripped; do
    expect 0 "$program" "$lathe" compile --tier=opt ./$program
    expect 0 "$program runs" "$lathe" run --tier=opt --stats=json ./$program
    same out expected
    is "$(figure translated)" -eq 0
    is "$(figure from_cache)" -gt 8
    expect 0 "$program for both tiers" "$lathe" compile --tier=auto ./$program
    expect 0 "$program runs in both tiers" "$lathe" run --stats=json ./$program
    same out expected
    is "$(figure from_cache)" -gt 5
done

expect 0 "a second time" "$lathe" compile --tier=opt ./fixed
says err ': 0 functions translated'
expect 0 "more optimisation" "$lathe" compile --tier=opt --optimize=2 -j1 ./fixed
says err ': [1-9][0-9]* functions translated'
expect 0 "more optimisation runs" "$lathe" run --tier=opt --stats=json ./fixed
same out expected
is "$(figure translated)" -eq 0
expect 0 "exact floating point" "$lathe" compile --tier=opt --strict-fp --quiet ./fixed
is "$(wc -c <err)" -eq 0
expect 0 "exact floating point runs" "$lathe" run --tier=opt --strict-fp --stats=json ./fixed
is "$(figure translated)" -eq 0

# From the first handler on, both tiers run other code.
expect 0 "with a handler" "$lathe" compile --tier=auto --signals ./handler
says err '^once more'
expect 0 "with a handler runs" "$lathe" run --stats=json ./handler
same out expected
is "$(figure from_cache)" -gt 5

export LATHE_CACHE="$dir/cache2"
expect 0 "without profile" "$lathe" compile --tier=auto --profile ./fixed
says err ': 0 functions translated'
expect 0 "a run before" "$lathe" run --tier=opt --stats=json ./fixed
before=$(figure functions)
expect 0 "a profile" "$lathe" compile --tier=auto --profile ./fixed
says err "^fixed: ($before functions|.* are no code)"
export LATHE_CACHE="$dir/cache"

# ---------------------------------------------------------------------------------------- libraries, and interruption
# servers: those of this test alone.
mkdir own
cp "$server" own/
export LATHE_LIBEXEC="$dir/own"
servers() {
    for proc in /proc/[0-9]*; do
        [ "$(readlink "$proc/exe" 2>/dev/null)" = "$dir/own/lathe-server" ] && echo "${proc#/proc/}"
    done
}
"$lathe" compile --tier=opt -j2 ./dynamic >out 2>err &
pid=$!
sleep 2
kill -TERM $pid
wait $pid
status=$?
what="interrupted"
is $status -eq 130
says err 'interrupted'
is "$(servers | wc -l)" -eq 0
"$lathe" compile --tier=opt -j2 ./dynamic >out 2>err &
pid=$!
sleep 1.5
for id in $(servers); do
    kill -9 "$id"
done
wait $pid
status=$?
what="workers killed"
is $status -eq 0
says err '^libahead.so: '
says err ' [1-9][0-9]* were there already'
expect 0 "with libraries" "$lathe" run --tier=opt --stats=json ./dynamic
same out expected-dynamic
is "$(($(figure translated) * 50))" -le "$(figure functions)"
unset LATHE_LIBEXEC

# --------------------------------------------------------------------------------------------------------------- faults
expect 2 "no program" "$lathe" compile
expect 2 "an unknown option" "$lathe" compile --tier=quick ./fixed
expect 2 "no cache" "$lathe" compile --cache=none ./fixed
expect 1 "a cache that cannot be" "$lathe" compile --cache=/proc/no/such ./fixed
says err '^lathe: /proc/no/such: '
expect 1 "no such file" "$lathe" compile ./nothing
says err '^lathe: ./nothing: No such file'
expect 1 "no such program" "$lathe" compile no-such-program-in-path
says err 'not found$'
echo text >plain
expect 1 "not ELF" "$lathe" compile ./plain
says err '^lathe: ./plain: not an ELF file$'
printf '#!/bin/sh\n' >script
expect 1 "a script" "$lathe" compile ./script
says err '^lathe: ./script: a script; compile what runs it: /bin/sh$'
cp fixed machine
printf '\267\000' | dd of=machine bs=1 seek=18 conv=notrunc 2>/dev/null
expect 1 "another machine" "$lathe" compile ./machine
says err '^lathe: ./machine: .*EM_AARCH64'
expect 1 "a missing library" "$lathe" compile --profile ./lost
says err '^lathe: ./lost: needs a library that is not found: libahead.so$'
expect 0 "a library of LD_LIBRARY_PATH" env LD_LIBRARY_PATH=/x:libs "$lathe" compile --profile ./lost
gcc $flags -fPIC -shared "$guests/ahead_library.c" -DUSED -Llibs -Wl,--no-as-needed -lahead -o libs/libsecond.so &&
    gcc $flags -fPIE -pie -DLIBRARY "$guests/ahead.c" -Llibs -Wl,--no-as-needed -lahead -lsecond \
        -Wl,--enable-new-dtags,-rpath,'$ORIGIN/libs' -o twice || exit 1
expect 0 "a library of a library that is loaded already" "$lathe" compile --profile ./twice
expect 2 "a tier without optimised code" env LATHE_TIER=quick "$lathe" compile ./fixed
expect 1 "one of two" "$lathe" compile --tier=opt ./plain ./fixed
says err ' were there already$'
mkdir broken
printf '#!/bin/sh\nexit 1\n' >broken/lathe-server
chmod +x broken/lathe-server
expect 1 "a server that does not work" env LATHE_LIBEXEC="$dir/broken" "$lathe" compile ./fixed
says err '^lathe: '

expect 0 "help" "$lathe" compile --help
for option in $(sed -n 's/^  --*\([A-Za-z0-9-]*\).*/\1/p' out); do
    what="lathe-compile.1"
    if grep -Eq "^\.It Fl -?$option( |\$)" "$mandir/lathe-compile.1"; then passed=$((passed + 1)); else fail "no $option"; fi
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
