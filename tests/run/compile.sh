#!/bin/sh
# compile.sh LATHE SERVER GUESTS MANDIR: `lathe compile`: what it finds, that runs then translate nothing, faults, and interruption.
# GUESTS has the sources of ahead.c.
lathe=$(realpath "$1")
server=$(realpath "$2")
guests=$(realpath "$3")
mandir=$(realpath "$4")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache"

# build WORD...: by gcc, without a C library.
build() {
    gcc -w -O2 -nostdlib -ffreestanding -fno-stack-protector -fcf-protection=none "$@"
}

# -------------------------------------------------------------------------------------------------------------- programs
build -fno-pie -no-pie -static "$guests/ahead.c" -o fixed &&
    build -fno-pie -no-pie -static -s "$guests/ahead.c" -o stripped &&
    build -fno-pie -no-pie -static -DHANDLER "$guests/ahead.c" -o handler &&
    mkdir libs && build -fPIC -shared "$guests/ahead_library.c" -o libs/libahead.so &&
    build -fPIE -pie -DLIBRARY "$guests/ahead.c" -Llibs -lahead -Wl,--enable-new-dtags,-rpath,'$ORIGIN/libs' -o dynamic &&
    build -fPIE -pie -DLIBRARY "$guests/ahead.c" -Llibs -lahead -o lost || exit 1
./fixed >expected || exit 1
./dynamic >expected-dynamic || exit 1
settle fixed stripped handler dynamic lost

for program in fixed stripped; do
    expect 0 "$program" "$lathe" compile --tier=opt ./$program
    expect 0 "$program runs" "$lathe" run --tier=opt --stats=json ./$program
    same out expected
    counts translated -eq 0
    counts from_cache -gt 8
    expect 0 "$program for both tiers" "$lathe" compile --tier=auto ./$program
    expect 0 "$program runs in both tiers" "$lathe" run --stats=json ./$program
    same out expected
    counts from_cache -gt 5
done

expect 0 "a second time" "$lathe" compile --tier=opt ./fixed
says err ': 0 functions translated'
expect 0 "an image" "$lathe" run --tier=opt --stats=json ./fixed
counts from_image -gt 8
expect 0 "more optimisation" "$lathe" compile --tier=opt --optimize=2 -j1 ./fixed
says err ': [1-9][0-9]* functions translated'
expect 0 "more optimisation runs" "$lathe" run --tier=opt --stats=json ./fixed
same out expected
counts translated -eq 0
counts from_image -eq 0
counts from_cache -gt 8
expect 0 "more optimisation runs again" "$lathe" run --tier=opt --stats=json ./fixed
same out expected
counts from_image -gt 8
expect 0 "exact floating point" "$lathe" compile --tier=opt --strict-fp --quiet ./fixed
silent err
expect 0 "exact floating point runs" "$lathe" run --tier=opt --strict-fp --stats=json ./fixed
counts translated -eq 0

# From the first handler on, both tiers run other code.
expect 0 "with a handler" "$lathe" compile --tier=auto --signals ./handler
says err '^once more'
expect 0 "with a handler runs" "$lathe" run --stats=json ./handler
same out expected
counts from_cache -gt 5

export LATHE_CACHE="$dir/cache2"
expect 0 "without profile" "$lathe" compile --tier=auto --profile ./fixed
says err ': 0 functions translated'
expect 0 "a run before" "$lathe" run --tier=opt --stats=json ./fixed
before=$(figure functions)
expect 0 "a profile" "$lathe" compile --tier=auto --profile ./fixed
says err "^fixed: ($before functions|.* are no code)"
export LATHE_CACHE="$dir/cache"

# ---------------------------------------------------------------------------------------- libraries, and interruption
mkdir own
cp "$server" own/
export LATHE_LIBEXEC="$dir/own"
before=$(records)
begin "interrupted" "$lathe" compile --tier=opt -j2 ./dynamic
holds wait_until has_made $((before + 5))
kill -TERM "$begun"
ended 130
says err 'interrupted'
soon_left ""
before=$(records)
begin "workers killed" "$lathe" compile --tier=opt -j2 ./dynamic
holds wait_until has_made $((before + 5))
kill_servers
is $killed -gt 0
ended 0
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
patch machine 18 '\0050\0000'
expect 1 "another machine" "$lathe" compile ./machine
says err '^lathe: ./machine: .*EM_ARM'
expect 1 "a missing library" "$lathe" compile --profile ./lost
says err '^lathe: ./lost: needs a library that is not found: libahead.so$'
expect 0 "a library of LD_LIBRARY_PATH" env LD_LIBRARY_PATH=/x:libs "$lathe" compile --profile ./lost
build -fPIC -shared "$guests/ahead_library.c" -DUSED -Llibs -Wl,--no-as-needed -lahead -o libs/libsecond.so &&
    build -fPIE -pie -DLIBRARY "$guests/ahead.c" -Llibs -Wl,--no-as-needed -lahead -lsecond \
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

documented compile

finish
