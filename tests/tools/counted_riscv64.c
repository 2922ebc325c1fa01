/* counted_riscv64.c: counted_riscv64 WHAT: the same for riscv64, where qemu counts. */
#include "counted.h"

static word call(word number, word a, word b, word c) {
    register word a7 __asm__("a7") = number;
    register word a0 __asm__("a0") = a;
    register word a1 __asm__("a1") = b;
    register word a2 __asm__("a2") = c;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
    return a0;
}

enum { NR_EXIT_GROUP = 94, NR_GETPID = 172 };

static word floats(void) {
    volatile double sum = 0;
    for (int i = 1; i < 400; i++)
        sum += 1.0 / i;
    return (word)(sum * 1000) + (call(NR_GETPID, 0, 0, 0) > 0);
}

__attribute__((used)) static void start(word *stack) {
    const char *argument = (const char *)stack[2];
    unsigned what = stack[0] > 1 ? (unsigned)(argument[0] - '0') : 9;
    word result = what == 0 ? loops() : what == 1 ? computed() : floats();
    for (;;)
        call(NR_EXIT_GROUP, result & 63, 0, 0);
}

__asm__(".globl _start\n_start:\tmv a0, sp\n\tcall start");
