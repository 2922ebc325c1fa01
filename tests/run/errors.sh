#!/bin/sh
# errors.sh LATHE CLIENT SERVER BIN: what is visible of `lathe run`'s options, and of faults: files that are no programs, a server
# that dies. BIN has the guest programs.
lathe=$(realpath "$1")
client=$(realpath "$2")
server=$(realpath "$3")
bin=$(realpath "$4")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache"

# ------------------------------------------------------------------------------------------------- files of all kinds
true=/usr/bin/true
expect 127 "no such file" run ./nothing
says err '^lathe: ./nothing: '
expect 127 "no such program" run no-such-program-in-path
expect 126 "a directory" run "$dir"
says err '^lathe: .*: is a directory$'
echo text >plain
expect 126 "not executable" run ./plain
says err '^lathe: ./plain: '
chmod +x plain
expect 126 "not ELF, no #!" run ./plain
says err '^lathe: ./plain: neither an ELF file nor a script that begins with #!$'
: >empty
chmod +x empty
expect 126 "an empty file" run ./empty
says err '^lathe: ./empty: neither an ELF file nor a script that begins with #!$'
printf '#!/bin/sh\necho "script $0 $1"\nexit 4\n' >script
chmod +x script
expect 4 "a script" run ./script word
says out '^script ./script word$'
printf '#!/no/such/interpreter\n' >lost
chmod +x lost
expect 127 "a script without its interpreter" run ./lost
says err '^lathe: ./lost: its interpreter /no/such/interpreter: not found$'

# damaged FILE OFFSET BYTES: a copy of true, with these bytes there
damaged() {
    cp "$true" "$1"
    patch "$@"
}
damaged machine 18 '\0050\0000'
expect 126 "ELF for a machine that there is no client for" run ./machine
says err '^lathe: ./machine: an ELF file for arm; lathe run knows x86-64, riscv64, aarch64$'
printf '#!%s/machine\n' "$dir" >foreign
chmod +x foreign
expect 126 "a script whose interpreter is for such a machine" run ./foreign
says err "^lathe: ./foreign: its interpreter $dir/machine: an ELF file for arm; "
damaged mixed 18 '\0267\0000'
expect 126 "ELF for aarch64, and its dynamic linker for x86-64" run ./mixed
says err '^lathe: ./mixed: its dynamic linker /lib64/.*: an ELF file for x86-64, where one for aarch64 is needed$'
damaged class 4 '\0001'
expect 0 "ELF that says it has 32 bits, which the kernel does not look at" run ./class
patch class 54 '\0040'
expect 126 "ELF of 32 bits" run ./class
says err '^lathe: ./class: a 32-bit ELF file; only 64-bit programs can be run$'
damaged type 16 '\0001\0000'
expect 126 "an object file" run ./type
says err '^lathe: ./type: an object file, which has to be linked first$'
damaged headers 32 '\0377\0377\0377\0377\0377\0377\0377\0177'
expect 126 "program headers far away" run ./headers
says err '^lathe: ./headers: a truncated ELF file$'
for size in 1 20 64 200; do
    head -c $size "$true" >short
    chmod +x short
    expect 126 "the first $size bytes of a program" run ./short
    says err '^lathe: ./short: (neither an ELF file|a truncated ELF file)'
done
sed 's|/lib64/ld-linux|/lib64/no-linux|' "$true" >interpreter
chmod +x interpreter
expect 127 "a missing dynamic linker" run ./interpreter
says err '^lathe: ./interpreter: its dynamic linker /lib64/no-linux[^ ]* is not found; .* -L '
expect 127 "a missing dynamic linker, with a sysroot" run -L "$dir" ./interpreter
says err "^lathe: ./interpreter: its dynamic linker /lib64/no-linux[^ ]* is not found, nor is it in $dir\$"
expect 127 "a file for statistics that cannot be" run --log=/no/such/file --stats true
says err '^lathe: /no/such/file: cannot be written: not found$'
expect 127 "the client by hand" "$client"
says err '^lathe: lathe-client is not started by hand: lathe run PROGRAM starts it$'

expect 38 "a 32-bit system call that Lathe does not have" run "$bin/gcc2-int80" refused
says err '^lathe: the 32-bit system call time .* ENOSYS$'
[ "$(wc -l <err)" = 1 ] || fail "it is told once"

# -------------------------------------------------------------------------------------------------------------- options
expect 0 "true" run true
silent out
silent err
expect 1 "false" run -- false
expect 0 "argv[0]" run -0 other sh -c 'echo "$0"'
says out '^other$'
expect 0 "a variable set, one removed" run -E LATHE_TEST=value -U HOME env
says out '^LATHE_TEST=value$'
says_not out '^HOME='
expect 0 "statistics" run --stats true
says err 'functions'
is "$(sed -n 's/^\(lathe: .* \)[0-9]\{1,\}\( us\)\{0,1\}$/\1/p' err | awk '{ print length($0) }' | sort -u | wc -l)" -eq 1
expect 0 "statistics as JSON" run --stats=json true
says err '^\{.*\}$'
silent out
expect 0 "statistics of a program that closes standard error" run --stats=json ls
says err '^\{.*\}$'
expect 0 "system calls" run --strace true
says err '(^|[ ])(brk|mmap)\('
says err 'exit_group\(0\)'
says err '^newfstatat\(3, "", 0x[0-9a-f]+, AT_EMPTY_PATH\) = 0$'
says err '^prlimit64\(0, RLIMIT_STACK, NULL, 0x[0-9a-f]+\) = 0$'
long=$dir/$(printf 'long%.0s' $(seq 25))
expect 2 "system calls with long paths, flags of files" run --strace ls -l "$long"
says err "^statx\(AT_FDCWD, \"$long\", AT_SYMLINK_NOFOLLOW\|AT_NO_AUTOMOUNT, STATX_MODE\|.*\) = -1 ENOENT$"
expect 0 "system calls with flags of processes" run --strace sh -c '(exit 0); exit 0'
says err '^clone\(CLONE_CHILD_CLEARTID\|CLONE_CHILD_SETTID\|SIGCHLD, '
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

# ---------------------------------------------------------------------------------------------------------- processors
# The dynamic linker tells which levels it sees; the machine may have fewer than the one asked for.
linker=/lib64/ld-linux-x86-64.so.2
levels() {
    sed -n 's/^  x86-64-v\([0-9]\) (supported.*/\1/p' "$1" | sort
}
$linker --help >native
for level in 1 2 3 4; do
    cpu=x86-64-v$level
    expect 0 "the processor $cpu" run --tier=quick --cpu=${cpu%-v1} $linker --help
    is "$(levels out)" = "$(levels native | awk -v most=$level '$1 <= most')"
done
for cpu in native auto; do
    expect 0 "the processor $cpu" run --tier=quick --cpu=$cpu $linker --help
    is "$(levels out)" = "$(levels native)"
done
expect 2 "no such processor" run --cpu=z80 $true
says err "^lathe run: --cpu: 'z80' is not one of auto\|x86-64\|"

# ------------------------------------------------------------------------------------------------------------- the vdso
# Where the guest has one, the time costs no system calls, and a second run nothing of the server.
if LD_SHOW_AUXV=1 $true | grep -q AT_SYSINFO_EHDR && grep -qw rdpid /proc/cpuinfo; then
    expect 0 "the time" run --strace "$bin/gcc2-clocks"
    is "$(grep -c 'clock_gettime(1,' err)" -lt 10
    LATHE_TIER=opt expect 0 "the time, first run" run "$bin/gcc2-clocks"
    LATHE_TIER=opt expect 0 "the time, second run" run --stats=json "$bin/gcc2-clocks"
    counts translated -eq 0
else
    skip "the time" "this kernel shows programs no vdso, or the processor has no rdpid"
fi

# ------------------------------------------------------------------------------------------------------- a server that dies
# A server of our own, so that no other one is killed.
mkdir own
cp "$client" "$server" own/
export LATHE_LIBEXEC="$dir/own" LATHE_CACHE="$dir/cache-killed"
"$bin/pauses" 0 64 >expected
begin "a server killed in the middle" run --tier=opt "$bin/pauses" 50 64
for _ in 1 2; do # a request that fails twice is given up: others are answered before the second server is killed
    holds wait_until has_made $(($(records) + 3))
    kill_servers
done
ended 7
same out expected
is $killed -eq 2

# ------------------------------------------------------------------------------------------------------- a client that dies
has_server() {
    [ "$(servers)" != "" ]
}
for functions in 0 1 10; do
    rm -rf cache-killed
    begin "the server of a client killed after $functions functions" "$lathe" run --tier=opt "$bin/pauses" 50 64
    holds wait_until has_server
    holds wait_until has_made $functions
    holds kill -9 "$begun"
    wait "$begun" 2>/dev/null
    soon_left ""
done

finish
