#!/bin/bash
# target-refused.sh LATHE HOST: what cannot be raised for another machine is refused with its address and a reason, status 1 and no file; what
# stops at run time says where; fences are where threads need them, and only there.
lathe=$(realpath "${1:?}") host=${2:?}
. "$(dirname "$0")/begin.sh"

refuse() { # TEXT FLAGS: of the program on standard input
    cat >program.c
    gcc -w -O1 program.c -o program $2 || exit 2
    rm -f out
    "$lathe" raise --target="$host" program -o out >message 2>&1
    status=$?
    [ $status = 1 ] || complain "status $status instead of 1: $(cat message)"
    grep -q "$1" message || complain "no '$1' in: $(cat message)"
    [ ! -e out ] || complain "there is a file, although: $(cat message)"
}

refuse '0x[0-9a-f]*: it calls ulimit, whose variable arguments cannot be known' <<'C'
#include <ulimit.h>
int main(void) { return ulimit(UL_GETFSIZE) == 3; }
C
refuse '0x[0-9a-f]*: it calls getcontext\|uses getcontext' <<'C'
#include <ucontext.h>
int main(void) { ucontext_t c; return getcontext(&c); }
C
refuse "0x[0-9a-f]*: it calls fegetenv: fenv_t is laid out differently on $host" -lm <<'C'
#include <fenv.h>
int main(void) { fenv_t e; return fegetenv(&e); }
C
refuse '0x[0-9a-f]*: it calls mallinfo2, whose arguments or result are of a kind' <<'C'
#include <malloc.h>
int main(void) { return mallinfo2().arena == 3; }
C
refuse '0x[0-9a-f]*: it has a [a-z]* of its own' <<'C'
#include <stdlib.h>
static char memory[1 << 20], *next = memory;
void *malloc(size_t size) { char *p = next; next += (size + 15) & -16; return p; }
void free(void *p) {}
int main(void) { return malloc(5) == NULL; }
C
refuse 'not position-independent, and another machine may have no room' '-no-pie -Wl,-Ttext-segment=0x10000' <<'C'
int main(void) { return 0; }
C
refuse '0x[0-9a-f]*: it calls __nss_configure_lookup, which no header declares' <<'C'
int __nss_configure_lookup(const char *, const char *);
int main(void) { return __nss_configure_lookup("hosts", "files"); }
C
# The linker speaks English, and what it was to link is removed, also if it could not be written.
mkdir bin
printf '#!/bin/sh\necho "it speaks $LC_ALL" >&2\nexit 1\n' >"bin/$host-linux-gnu-gcc"
chmod +x "bin/$host-linux-gnu-gcc"
echo 'int main(void) { return 0; }' >plain.c
gcc plain.c -o program || exit 2
PATH="$dir/bin:$PATH" LC_ALL=de_DE.UTF-8 "$lathe" raise --target="$host" program -o out 2>message
grep -q 'it speaks C$' message || complain "the linker's language: $(cat message)"
(trap '' XFSZ && ulimit -f 4 && exec "$lathe" raise --target="$host" program -o out 2>message)
object=$(sed -n 's/.*: \(\/tmp\/lathe-raise-[^:]*\): .*File too large$/\1/p' message)
[ -n "$object" ] && [ ! -e "$object" ] || complain "an object that has no room: $(cat message)"

"$lathe" raise --target=nowhere program -o out 2>message && complain "there is a target called nowhere"
grep -q 'there is no target nowhere; there are:' message || complain "unknown targets: $(cat message)"

# A computed jump without a table of the compiler's leads to one of the places whose address was taken.
cat >goto.c <<'C'
int main(int argc, char **argv) {
    static void *const places[] = {&&first, &&second, &&third};
    if (argc == 1) return 3;
    goto *places[argc];
first:
    return 4;
second:
    return argv[0][0];
third:
    return argv[1][0];
}
C
gcc -O1 goto.c -o goto && "$lathe" raise --target="$host" goto -o raised || complain "goto is refused"
qemu-"$host" -L "/usr/$host-linux-gnu" ./raised
[ $? = 3 ] || complain "goto does not end with 3"
qemu-"$host" -L "/usr/$host-linux-gnu" ./raised x 2>message
[ $? = 120 ] || complain "goto does not end with x: $(cat message)"

# System calls by numbers that are not known to be the same stop the program.
echo 'long syscall(long, ...); int main(void) { return syscall(9999); }' >numbers.c
gcc numbers.c -o numbers && "$lathe" raise --target="$host" numbers -o raised || complain "numbers is refused"
qemu-"$host" -L "/usr/$host-linux-gnu" ./raised 2>message
grep -q 'stopped at .*: a system call that may be another one' message || complain "an unknown system call: $(cat message)"

# Each damaged file is raised, or refused.
for i in $(seq 1 12); do
    python3 - "$i" <<'P'
import random, sys
random.seed(int(sys.argv[1]))
data = bytearray(open("goto", "rb").read())
for _ in range(30):
    data[random.choice([random.randrange(len(data)), random.randrange(64, 2000)])] = random.randrange(256)
open("damaged", "wb").write(data[: random.choice([len(data), random.randrange(64, len(data))])])
P
    timeout 60 "$lathe" raise --target="$host" damaged -o damaged.out >message 2>&1
    status=$?
    [ $status -le 1 ] || complain "damaged file $i: status $status: $(tail -n 2 message)"
done

# Fences: none without threads, and with them fewer than accesses.
fences() { # prints how many the assembly has
    "$lathe" raise --target="$host" --emit=asm --report "$1" -o out.s >report || complain "$1 is refused"
    grep -cE '^\s*(dmb|fence)\b' out.s
}
cat >sum.c <<'C'
#include <stdio.h>
#ifdef THREADS
#include <pthread.h>
#endif
static long table[1000], total;
static void *work(void *p) {
    long sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += table[i] + ((long *)p)[i];
    total = sum;
    return p;
}
int main(void) {
#ifdef THREADS
    pthread_t t;
    pthread_create(&t, NULL, work, table);
    pthread_join(t, NULL);
#else
    work(table);
#endif
    printf("%ld\n", total);
    return 0;
}
C
gcc -O1 sum.c -o one && gcc -O1 -DTHREADS sum.c -o several || exit 2
[ "$(fences one)" = 0 ] || complain "a program without threads has fences"
[ "$(fences several)" -gt 0 ] || complain "a program with threads has no fences"
sed -n 's/^accesses that others may see \([0-9]*\), fences \([0-9]*\)$/\1 \2/p' report >numbers
read -r accesses fences <numbers
[ "${fences:-0}" -le "${accesses:-0}" ] || complain "there are more fences than accesses: $(cat numbers)"
# Stores through a pointer argument, in a function that takes three arguments.
cat >publish.c <<'C'
#include <pthread.h>
struct box { int data, ready; } box;
__attribute__((noinline, noclone)) void publish(struct box *b, int x, int y) {
    b->data = x + y;
    b->ready = 1;
}
static void *work(void *p) { publish(p, 3, 4); return p; }
int main(void) {
    pthread_t t;
    return pthread_create(&t, NULL, work, &box) || pthread_join(t, NULL);
}
C
gcc -O1 publish.c -o publish && "$lathe" raise --target="$host" --emit=llvm -O0 publish -o out.ll || complain "publish is refused"
sed -n '/^define.*_publish(/,/^}/p' out.ll | awk '
    / store / { stores++ }
    /"(dmb ishst|fence w, w)"/ && stores == 1 { found = 1 }
    END { exit !(found && stores == 2) }' || complain "no fence between the two stores of publish"

# An argument on the stack that the callee shows to others: the caller's stores to it come before.
cat >argument.c <<'C'
#include <pthread.h>
struct large { long words[8]; } *shown;
long counter;
__attribute__((noinline, noclone)) void show(struct large l) {
    shown = &l;
    __sync_synchronize();
}
static void *work(void *p) {
    struct large l = {{1, 2, 3, 4, 5, 6, 7, 8}};
    __sync_fetch_and_add(&counter, 1);
    show(l);
    return p;
}
int main(void) {
    pthread_t t;
    return pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL);
}
C
gcc -O1 argument.c -o argument && "$lathe" raise --target="$host" --emit=llvm -O0 argument -o out.ll || complain "argument is refused"
sed -n '/^define.*_show(/,/^}/p' out.ll | awk '
    / store .*lathe_image/ { exit }
    /"(dmb ishst|fence w, w|dmb ish|fence rw, rw)"/ { found = 1 }
    END { exit !found }' || complain "no fence in front of the store that shows an argument"

# A comparison and exchange that fails is a load, which a store before it must not pass.
cat >exchange.c <<'C'
#include <pthread.h>
long first, second;
__attribute__((noinline, noclone)) int try(long *a, long *b, long with) {
    *(volatile long *)a = with;
    return __sync_bool_compare_and_swap(b, 0, with);
}
static void *work(void *p) { return try(&first, &second, 5) ? p : NULL; }
int main(void) {
    pthread_t t;
    return pthread_create(&t, NULL, work, &first) || pthread_join(t, NULL);
}
C
gcc -O1 exchange.c -o exchange && "$lathe" raise --target="$host" --emit=llvm -O0 exchange -o out.ll || complain "exchange is refused"
sed -n '/^define.*_try(/,/^}/p' out.ll | awk '
    / cmpxchg / { exit }
    / store / { found = 0 }
    / fence seq_cst/ { found = 1 }
    END { exit !found }' || complain "no full fence between a store and cmpxchg"
[ $failed = 0 ] && echo "what cannot be raised for $host is refused"
exit $failed
