#!/bin/bash
# refused.sh LATHE: what cannot be raised is refused with a sentence, status 1 and no file; damaged files never crash it; what stops at run
# time says where.
lathe=$(realpath "${1:?}")
. "$(dirname "$0")/begin.sh"

refuse() { # TEXT FILE: the message has the text
    "$lathe" raise "$2" -o out >message 2>&1
    status=$?
    [ $status = 1 ] || complain "$2: status $status instead of 1: $(cat message)"
    grep -q "$1" message || complain "$2: no '$1' in: $(cat message)"
    [ ! -e out ] || complain "$2: there is a file"
}

cat >contexts.c <<'C'
#include <ucontext.h>
int main(void) {
    ucontext_t c;
    return getcontext(&c);
}
C
echo 'int main(void) { return 0; }' >plain.c
cat >tiny.c <<'C'
static long call(long n, long a, long b, long c) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
}
static int (*volatile pointer)(int);
__attribute__((noinline)) static int twice(int x) { return 2 * x; }
__attribute__((noinline)) static int thrice(int x) { return 3 * x; }
int (*const table[])(int) = {twice, thrice};
static volatile long number; /* nobody knows that no thread begins behind this system call */
__attribute__((noinline)) static int look(void) {
    char text[8] = "a";
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(0L), "S"(text), "d"(1L) : "rcx", "r11", "memory");
    return text[0] - 'a';
}
void _start(void) {
    pointer = table[1];
    call(1, 1, (long)"tiny\n", 5);
    call(231, pointer(7) + look(), 0, 0);
    __builtin_unreachable();
}
C
gcc -O1 contexts.c -o contexts && gcc plain.c -o plain && gcc -shared -fPIC plain.c -o lib.so &&
    gcc -O1 -static -nostdlib -fno-pie -no-pie tiny.c -o tiny || exit 2
refuse 'uses getcontext' contexts
refuse 'not an ELF file' plain.c
refuse 'No such file' missing

cat >specifications.cpp <<'C'
#include <exception>
#include <new>
void thrower(int n);
inline void inner(int n) throw(int, std::bad_alloc) { thrower(n); }
void outer(int n) throw(int, std::bad_exception) { inner(n); inner(n + 1); }
__attribute__((noinline)) void thrower(int n) { if (n == 1) throw 1; if (n == 2) throw 2.5; }
int main(int argc, char **) { outer(argc - 1); }
C
g++ -std=c++14 -w -O2 specifications.cpp -o specifications || exit 2
refuse 'two exception specifications' specifications

# Exceptions whose unwinder would be raised as well: all of it statically linked, or only C++'s libraries. C's tables of landing pads are no reason.
cat >static.cpp <<'C'
int main(int argc, char **) {
    try {
        if (argc > 1) throw 1;
    } catch (int n) {
        return n;
    }
    return 0;
}
C
for flags in -static '-static -s' '-static-pie' '-static-libstdc++ -static-libgcc'; do
    g++ -O1 $flags static.cpp -o static || exit 2
    refuse 'exceptions, or the like, whose library is part of it' static
done
g++ -O1 -static-libgcc static.cpp -o static && refuse 'C++ exceptions, and .* (-static-libgcc)' static

# A jump to a place that no table tells of.
cat >goto.c <<'C'
int main(int argc, char **argv) {
    static const short places[] = {0, &&second - &&first, &&third - &&first};
    if (argc == 1) return 3;
    goto *(&&first + places[argc]);
first:
    return 4;
second:
    return argv[0][0];
third:
    return argv[1][0];
}
C
gcc -O1 goto.c -o goto || exit 2
"$lathe" raise --fallback=no goto -o raised --report >report || complain "goto is refused"
grep -q 'computed jump' report || complain "the report does not tell of a computed jump"
./raised
[ $? = 3 ] || complain "goto does not end with 3"
./raised x 2>message
[ $? = 132 ] || complain "goto does not trap"
grep -q 'raised code stopped at 0x' message || complain "nothing is said where goto stops: $(cat message)"

# 72 jumps by address that lead to 73 places each are more ways than tables of jumps may have entries; the table behind them is found nevertheless.
cat >crowd.S <<'S'
.altmacro
.macro op n
op\n:
    imul $(2 * \n + 3), %eax, %eax
    movzbl (%rdi), %edx
    inc %rdi
    jmp *(%rcx,%rdx,8)
.endm
.macro way n
    .quad op\n
.endm
.text
.globl main
.type main, @function
main:
    lea ways(%rip), %rcx
    mov $1, %eax
    jmp op0
end:
    mov %eax, %edx
    and $7, %edx
    cmp $4, %edx
    ja 3f
    lea table(%rip), %rsi
    movslq (%rsi,%rdx,4), %rdx
    add %rsi, %rdx
jump:
    jmp *%rdx
1:  add $5, %eax
    ret
2:  not %eax
    ret
3:  xor $77, %eax
    ret
    .set i, 0
    .rept 72
    op %i
    .set i, i + 1
    .endr
.size main, .-main
.section .rodata
.align 4
table:
    .long 1b - table, 2b - table, 3b - table, 1b - table, 2b - table
.section .data.rel.ro, "aw"
.align 8
ways:
    .quad end
    .set i, 0
    .rept 72
    way %i
    .set i, i + 1
    .endr
.section .note.GNU-stack, "", @progbits
S
gcc crowd.S -o crowd || exit 2
"$lathe" raise --emit=llvm -O0 --report crowd -o crowd.ll >report || complain "crowd is refused"
jump=$(nm crowd | sed -n 's/^0*\([0-9a-f]*\) t jump$/\1/p')
grep -q "0x$jump: a computed jump" report && complain "the table behind many labels is not found"

# A program without a C library.
strip tiny
"$lathe" raise tiny -o raised || complain "tiny is refused"
[ "$(./raised </dev/null)" = tiny ] || complain "tiny does not say so"
./raised </dev/null >/dev/null
[ $? = 21 ] || complain "tiny does not end with 21"
echo b | ./raised >/dev/null
[ $? = 22 ] || complain "tiny does not see what it has read"

# Thread-local variables that are larger in the file than in memory.
echo '__thread int own = 3; int main(void) { return own++; }' >thread.c
gcc -O1 thread.c -o thread && python3 - <<'P' || exit 2
import struct
data = bytearray(open("thread", "rb").read())
at = next(o for o in range(64, 64 + 56 * 20, 56) if struct.unpack_from("<I", data, o)[0] == 7)
struct.pack_into("<Q", data, at + 32, 0xec00000000000008)
open("broken", "wb").write(data)
P
refuse 'its thread-local variables are too large, or broken' broken

# Each damaged file is raised, or refused.
for i in $(seq 1 24); do
    python3 - "$i" <<'P'
import random, sys
random.seed(int(sys.argv[1]))
data = bytearray(open(random.choice(["plain", "tiny", "lib.so"]), "rb").read())
for _ in range(40):
    data[random.choice([random.randrange(len(data)), random.randrange(64, 2000)])] = random.randrange(256)
open("damaged", "wb").write(data[: random.choice([len(data), random.randrange(64, len(data))])])
P
    timeout 60 "$lathe" raise damaged -o damaged.out >message 2>&1
    status=$?
    [ $status -le 1 ] || complain "damaged file $i: status $status: $(tail -n 2 message)"
done
[ $failed = 0 ] && echo "what cannot be raised is refused"
exit $failed
