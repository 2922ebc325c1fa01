#!/bin/sh
# exec.sh LATHE BIN GUEST [OTHER...]: programs that start others: of the same machine, of the host's, and the other way round; and of other machines.
lathe=$(realpath "$1")
bin=$(realpath "$2")
guest=$3
others="$4 $5"
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache"
ln -s "$bin/$guest-bare" bare
ln -s "$bin/$guest-starts" starts
ln -s "$bin/native-starts" native-starts
machine=$(uname -m)

# says_all LINE...: out has these lines and no others
says_all() {
    printf '%s\n' "$@" >want
    same out want
}
for how in "" -spawn; do
    expect 0 "guest to guest $how" run ./starts $how ./bare one two
    says_all "$guest starts ./bare" ./bare one two "$guest: status 3"
    expect 0 "guest to host $how" run ./starts $how /bin/echo one two
    says_all "$guest starts /bin/echo" "one two" "$guest: status 0"
    expect 0 "host to guest $how" run ./native-starts $how ./bare one
    says_all "$machine starts ./bare" ./bare one "$machine: status 2"
done
expect 0 "guest, host, guest" run ./starts ./native-starts ./bare
says_all "$guest starts ./native-starts" "$machine starts ./bare" ./bare "$machine: status 1" "$guest: status 0"
for other in $others; do
    ln -s "$bin/$other-starts" "$other-starts"
    expect 0 "guest, another guest, host, guest" run ./starts ./$other-starts ./native-starts ./bare
    says_all "$guest starts ./$other-starts" "$other starts ./native-starts" "$machine starts ./bare" ./bare "$machine: status 1" \
        "$other: status 0" "$guest: status 0"
    expect 0 "another guest, guest" run ./$other-starts -spawn ./starts ./bare
    says_all "$other starts ./starts" "$guest starts ./bare" ./bare "$guest: status 1" "$other: status 0"
done
printf '#!/bin/sh\n./bare "$1"\necho "$?"\n' >script
chmod +x script
expect 0 "a script" run ./starts ./script word
says_all "$guest starts ./script" ./bare word 2 "$guest: status 0"
printf '#!%s/bare option\n' "$dir" >script
expect 0 "a script for a guest" run ./native-starts ./script word
says_all "$machine starts ./script" "$dir/bare" option ./script word "$machine: status 4"
expect 4 "a script for a guest, to begin with" run ./script word
says_all "$dir/bare" option ./script word
mkdir -p root/only/there
cp "$bin/$guest-bare" root/only/there/bare
printf '#!/only/there/bare option\n' >script
expect 4 "the same, in a sysroot" run -L root ./script word
says_all /only/there/bare option ./script word
ln -s "/usr/$guest-linux-gnu/lib" root/lib
for how in "" -spawn; do
    expect 0 "a program that is in the sysroot only $how" run -L root ./starts $how /only/there/bare word
    says_all "$guest starts /only/there/bare" /only/there/bare word "$guest: status 2"
done
expect 0 "nothing there" run ./starts ./nothing
says_all "$guest starts ./nothing" "not executed: No such file or directory" "$guest: status 99"
expect 0 "of no known machine" sh -c 'cp bare other && printf "\026" | dd of=other bs=1 seek=18 conv=notrunc'
expect 0 "of no known machine" run ./starts ./other
says_all "$guest starts ./other" "not executed: Exec format error" "$guest: status 99"
expect 0 "not followed" run --no-follow ./starts /bin/echo one
says_all "$guest starts /bin/echo" one "$guest: status 0"
expect 0 "quick code, where there is some" run --tier=quick ./starts ./native-starts ./bare
says_all "$guest starts ./native-starts" "$machine starts ./bare" ./bare "$machine: status 1" "$guest: status 0"
finish
