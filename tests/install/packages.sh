#!/bin/bash
# packages.sh SOURCE: the Debian packages of this tree are built, installed into a Debian that has nothing else, used there as a stranger would, and removed
# again.
source=$(realpath "$1")
. "$(dirname "$0")/../check.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root can install packages"
command -v mmdebstrap >/dev/null || skip_all "there is no mmdebstrap here"

expect 0 "packages are built" "$source/scripts/deb" "$dir/packages"
for package in lathe lathe-binfmt liblathe0 liblathe-dev libbinopt0 libbinopt-dev; do
    holds [ -f "$(echo "$dir/packages/${package}"_*.deb)" ]
done

root=$dir/root
clean_up() {
    umount "$root/proc" 2>/dev/null
}
expect 0 "an empty Debian" mmdebstrap --mode=root --variant=apt bookworm "$root" "deb $("$source/scripts/mirror") bookworm main"
mkdir -p "$root/packages" "$root/try"
cp "$dir"/packages/*.deb "$root/packages"
cp "$source/examples/lift.c" "$source/examples/binopt.c" "$root/try"
echo 'int puts(const char *); int main(void) { return puts("hello from riscv64") < 0; }' >hello.c
expect 0 "a riscv64 program" riscv64-linux-gnu-gcc -O2 -static hello.c -o "$root/try/hello"
mount -t proc proc "$root/proc"

# inside WHAT COMMAND: in the new system the shell command ends with 0.
inside() {
    expect 0 "$1" chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -c "cd /try && $2"
}
inside "installing the command" 'apt-get -qq update && apt-get -qq -y install /packages/lathe_*.deb'
inside "version" 'lathe --version'
says out '^lathe [0-9]'
inside "run" 'lathe run -- /bin/echo hello'
says out '^hello$'
inside "optimised code" 'lathe run --tier=opt --opt=quick -- /bin/true'
inside "a tool, which clang-19 compiles" 'lathe run --tool=inscount -- /bin/true'
says err '^[0-9]+ instructions$'
inside "lift" 'lathe lift /lib/x86_64-linux-gnu/libc.so.6 --function=labs --signature=ll --target=aarch64 --emit=asm'
says out 'cneg'
inside "raise" 'lathe raise /usr/bin/factor -o factor && ./factor 123456789012345'
says out '^123456789012345: 3 5 283 3851 7552031$'
inside "running the riscv64 program" 'lathe-riscv64 ./hello'
says out '^hello from riscv64$'
inside "what shells complete" 'test -f /usr/share/bash-completion/completions/lathe && test -f /usr/share/zsh/vendor-completions/_lathe && test -f /usr/share/fish/vendor_completions.d/lathe.fish'

inside "installing the libraries" 'apt-get -qq -y install --no-install-recommends gcc libc6-dev pkg-config /packages/liblathe*.deb /packages/libbinopt*.deb'
inside "an example of liblathe" 'cc -O2 -Wall -Werror lift.c $(pkg-config --cflags --libs lathe) -o lift && ./lift'
says out 'max\(-3, 4\) = 4, 4 lifted, 4 as a C function again'
inside "an example of libbinopt" 'cc -O2 -Wall -Werror binopt.c $(pkg-config --cflags --libs binopt) -o binopt && ./binopt'
says out '^llvm: a new function, 0 of 1000 results differ'

# The kernel's list of formats is that of the whole machine, so it is not mounted in there: what would be registered is looked at.
inside "installing lathe-binfmt" 'apt-get -qq -y install /packages/lathe-binfmt_*.deb && update-binfmts --display lathe-riscv64'
says out '/usr/bin/lathe-riscv64'

inside "removing all of it" 'apt-get -qq -y purge lathe lathe-binfmt liblathe0 liblathe-dev libbinopt0 libbinopt-dev && ! update-binfmts --display lathe-riscv64 && ! find /usr /etc /var/lib -name "*lathe*" -o -name "*binopt*" | grep -v "^/var/lib/dpkg" | grep .'
finish
