#!/bin/sh
# debian.sh LATHE SYSROOT: Debian's programs for aarch64, as they are installed, do what they do under qemu-aarch64. Suite long: they are unpacked by scripts/sysroot.
lathe=$(realpath "$1")
unpack=$(realpath "$2")
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache"

root=$dir/root
"$unpack" arm64 bookworm "$root" bash coreutils python3 perl sqlite3 git openssl xz-utils zstd cpp-12 gawk lua5.4 bzip2 nodejs >log 2>&1 ||
    skip_all "no packages of Debian's: $(tail -n 1 log)"
command -v qemu-aarch64 >qemu || skip_all "no qemu-aarch64"

# compare PROGRAM ARGUMENT...: twice in each tier, so that the second run has what the first has learned.
compare() {
    program=$1
    shift
    qemu-aarch64 -L "$root" "$root/$program" "$@" >wanted 2>wanted.err </dev/null
    status=$?
    for tier in quick auto auto; do
        expect $status "$program with --tier=$tier" "$lathe" run --tier=$tier -L "$root" "$root/$program" "$@"
        same out wanted
    done
}

cat "$root/usr/bin/perl" >data
compare usr/bin/sha256sum data
compare usr/bin/sort data
compare bin/ls -l "$root/usr/bin"
compare bin/bash -c 'f() { for ((i = 0; i < 500; i++)); do echo $((i * i % 97)); done; }; a=($(f)); echo "${a[@]}" "${#a[@]}"'
compare usr/bin/python3 -c '
import hashlib, json, threading
found = []
def work(i):
    found.append((i, hashlib.sha512(str(i).encode() * 1000).hexdigest()))
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(json.dumps(sorted(found)), sum(i * 0.1 for i in range(10000)))'
compare usr/bin/perl -e 'my %h; $h{$_ % 97} += $_ for 1 .. 50000; print join(",", map {"$_=$h{$_}"} sort { $a <=> $b } keys %h), sqrt(2), "\n"'
compare usr/bin/sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) select sum(x), avg(x * 1.5) from c where x % 7 = 3'
compare usr/bin/lua5.4 -e 't = {} for i = 1, 20000 do t[i] = math.sin(i) * i end table.sort(t) print(t[1], t[100], #t)'
compare usr/bin/gawk 'BEGIN { for (i = 0; i < 20000; i++) s += sqrt(i); printf "%.6f\n", s }'
for digest in md5 sha1 sha256 sha512 sha3-256 sm3; do
    compare usr/bin/openssl dgst -$digest data
done
key=00112233445566778899aabbccddeeff
for cipher in aes-256-ctr chacha20; do
    compare usr/bin/openssl enc -$cipher -K $key$key -iv $key -in data
done
compare usr/bin/xz -T2 -1 -c data
compare usr/bin/zstd -T2 -q -c data
compare bin/bzip2 -c data
compare usr/bin/git hash-object data
echo 'int f(int a, double b) { double s = 0; for (int i = 0; i < a; i++) s += b * i; return s; }' >x.c
compare usr/lib/gcc/aarch64-linux-gnu/12/cc1 -quiet -O2 x.c -o -

# What starts others, which qemu does not do without the kernel's help.
expect 0 "a process of python3's" "$lathe" run -L "$root" "$root/usr/bin/python3" -c 'import subprocess, sys; print(subprocess.check_output([sys.executable, "-c", "print(6 * 7)"]))'
says out "^b'42.n'$"
expect 0 "a pipe of bash's" "$lathe" run -L "$root" "$root/bin/bash" -c 'printf "%s\n" 3 1 2 | sort | tr "\n" " "'
says out '^1 2 3 $'
# With threads and code of its own; qemu takes very long.
for tier in quick auto; do
    expect 0 "node with --tier=$tier" "$lathe" run --tier=$tier -L "$root" "$root/usr/bin/node" -e 'const m = new Map(); for (let i = 0; i < 200000; i++) m.set("k" + i % 97, i); console.log(m.size, [3, 1, 2].sort().join(), Math.sqrt(2))'
    says out '^97 1,2,3 1.4142135623730951$'
done
finish
