#!/bin/sh
# contained.sh LATHE PROGRAMS GUESTS MANDIR: `lathe raise --contained`: the file runs without Lathe, its libraries and their directories, and does what the program does.
# PROGRAMS has threads.c and process.c, GUESTS has ahead.c.
lathe=$(realpath "$1")
programs=$(realpath "$2")
guests=$(realpath "$3")
mandir=$(realpath "$4")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache"
documented raise

# contain PROGRAM OPTION...: the file is contained/PROGRAM.
mkdir contained
contain() {
    name=$(basename "$1")
    expect 0 "$name is contained" "$lathe" raise --contained "$@" -o "contained/$name"
}

# as_before WHAT NATIVE... : what the command prints, and how it ends; `contained/NAME` takes the place of the first word.
as_before() {
    "$@" >native-out 2>native-err </dev/null
    native=$?
    program=$(basename "$1")
    shift
    expect $native "$program contained" "contained/$program" "$@"
    same out native-out
}

# ------------------------------------------------------------------------------------------------------------ this machine's
for flags in "" -static; do
    for source in threads process; do
        gcc -w -O2 $flags "$programs/$source.c" -o "$source$flags" -lm -pthread || exit 2
        contain "./$source$flags"
        as_before "./$source$flags"
    done
done
script='f() { local a=(1 2 3); echo "${a[@]}" "$#"; }; f x; trap "echo usr1" USR1; kill -USR1 $$; echo a b | tr a-z A-Z; (exit 4); echo $?; sleep 0 & wait; [[ xy =~ ^x ]] && exit 5'
contain "$(command -v bash)"
as_before bash -c "$script"
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
contain "$python"
as_before "$python" -c 'import json, re, threading, signal, os, subprocess
signal.signal(signal.SIGALRM, lambda *a: print("alarm")); os.kill(os.getpid(), signal.SIGALRM)
t = [threading.Thread(target=lambda i=i: results.append(i * i)) for i in range(4)]; results = []
[x.start() for x in t]; [x.join() for x in t]
print(sorted(results), json.dumps({"a": re.findall("[a-c]+", "abcdcba")}), subprocess.run(["echo", "x"], capture_output=True))'
expect 0 "sys.executable is the file" "contained/$program" -c 'import subprocess, sys; subprocess.run([sys.executable, "-c", "print(6 * 7)"]); print(sys.executable)'
says out '^42$'
says out "^$dir/contained/$program\$"

# ----------------------------------------------------------------------------------------------------------------- libraries
cat >uses.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int needed(void);
int main(int argc, char **argv) {
    void *opened = dlopen(PLUGIN, RTLD_NOW);
    int (*more)(void) = opened ? (int (*)(void))dlsym(opened, "more") : NULL;
    printf("%d %d %d\n", argc, needed(), more ? more() : -1);
    fflush(stdout);
    if (argc > 1)
        execv(argv[1], argv + 1);
    return 3;
}
C
echo 'int needed(void) { return 11; }' >needed.c
echo 'int more(void) { return 22; }' >more.c
cat >other.c <<'C'
#include <stdio.h>
int main(int argc, char **argv) {
    FILE *self = fopen("/proc/self/exe", "r");
    int c = self ? fgetc(self) : -1;
    return printf("%s %d %x\n", argv[argc - 1], argc, c) < 0;
}
C
mkdir libs && gcc -shared -fPIC needed.c -o libs/libneeded.so && gcc -shared -fPIC more.c -o libs/more.so && gcc other.c -o libs/other &&
    gcc -DPLUGIN="\"$dir/libs/more.so\"" uses.c -o uses -Llibs -lneeded -Wl,-rpath,'$ORIGIN/libs' || exit 2
./uses "$dir/libs/other" word >expected
contain ./uses --with=libs/more.so --with=libs/other
mv libs gone
expect 0 "libraries that are no longer there" contained/uses "$dir/libs/other" word
same out expected
expect 1 "a library that cannot be found" "$lathe" raise --contained ./uses -o lost
says err 'needs a library that is not found: libneeded.so'
holds test ! -e lost
mv gone libs
cp contained/uses uses
expect 0 "in the program's place" ./uses "$dir/libs/other" word
same out expected

# ---------------------------------------------------------------------------------------------- where there is nothing else
mkdir root
cp contained/threads contained/bash root/
if unshare -r chroot root /bash -c : 2>/dev/null; then
    expect 0 "in an empty root" unshare -r chroot root /bash -c 'echo *; /threads'
    says out '^bash threads$'
else
    skip "an empty root" "no user namespaces"
fi

# ----------------------------------------------------------------------------------------------------------------------- code
# The client says how many functions were in the file, when it is started as one.
as_client() {
    bash -c 'exec -a "lathe-client, contained" "$@"' bash "$@"
}
gcc -w -O2 -nostdlib -ffreestanding -fno-stack-protector -fcf-protection=none -fno-pie -no-pie -static "$guests/ahead.c" -o ahead || exit 2
contain ./ahead --ahead --report
says out '^1 files contained, .* [1-9][0-9]* functions compiled'
./ahead >expected
rm -r cache
expect 0 "with code from the file" as_client contained/ahead stats=2 "$dir/ahead" ./ahead
same out expected
counts from_cache -gt 5
counts translated -eq 0
expect 0 "the report as JSON" "$lathe" raise --contained ./ahead -o again --report=json
holds python3 -c 'import json; r = json.load(open("out")); assert r["contained"][0]["functions"] == 0 and r["machine"]'

# All that a run has left, as it lies in memory.
expect 5 "a run before" "$lathe" run "$(command -v bash)" -c "$script"
contain "$(command -v bash)" --report
says out '; an image of the code of earlier runs$'
rm -r cache
as_before bash -c "$script"
as_before bash -c 'for i in 1 2 3; do echo $((i * i)); done | sort -n -r; printf "%05.1f\\n" 2.5'

# ------------------------------------------------------------------------------------------------------- another machine's
cat >parent.c <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int status;
    for (int i = 1; i < argc; i++)
        if (fork() == 0)
            execl(argv[i], "child", "word", (char *)0), _exit(9);
        else
            wait(&status), printf("%d\n", status);
    return 0;
}
C
# from_machine NAME
from_machine() {
    if ! command -v "$1-linux-gnu-gcc" "qemu-$1" >/dev/null; then
        skip "programs of $1" "no $1-linux-gnu-gcc or qemu-$1"
        return
    fi
    mkdir "$1"
    for flags in "" -static; do
        for source in threads process; do
            "$1-linux-gnu-gcc" -w -O2 $flags "$programs/$source.c" -o "$1/$source$flags" -lm -pthread || exit 2
            "qemu-$1" -L "/usr/$1-linux-gnu" "$1/$source$flags" >expected 2>/dev/null </dev/null
            native=$?
            contain "$1/$source$flags"
            expect $native "$1 $source $flags" "contained/$source$flags"
            same out expected
        done
    done
    "$1-linux-gnu-gcc" parent.c -o parent && "$1-linux-gnu-gcc" other.c -o kin || exit 2
    contain ./parent
    expect 0 "children of both kinds" contained/parent "$dir/kin" "$dir/libs/other"
    is "$(grep -c '^word 2 7f$' out)" -eq 2
}

for machine in aarch64 riscv64; do
    from_machine $machine
done

# --------------------------------------------------------------------------------------------------------------------- faults
refuses "no such file" 'nothing: No such file' "$lathe" raise --contained nothing -o no
printf '#!/bin/sh\n' >script
refuses "a script" 'script: cannot be contained' "$lathe" raise --contained script -o no
refuses "nothing can be written" 'No such file or directory' "$lathe" raise --contained ./ahead -o no/such/folder
holds test ! -e no
expect 2 "IR of it" "$lathe" raise --contained --emit=llvm ./ahead -o no
expect 2 "for another machine" "$lathe" raise --contained --target=aarch64 ./ahead -o no
expect 2 "options of it alone" "$lathe" raise --ahead ./ahead -o no
size=$(stat -c %s contained/ahead)
cp contained/ahead short && truncate -s $((size - 20000)) short
expect 127 "cut short" ./short
one_line
expect 0 "a low limit of the size of files" bash -c 'ulimit -Sf 1; exec contained/threads >/dev/null'
finish
