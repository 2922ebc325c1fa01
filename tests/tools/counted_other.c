/* counted_other.c: counted WHAT: the same for aarch64 and riscv64, where qemu counts. */
#include "counted.h"

#ifdef __riscv
static word call(word number, word a, word b, word c) {
    register word a7 __asm__("a7") = number;
    register word a0 __asm__("a0") = a;
    register word a1 __asm__("a1") = b;
    register word a2 __asm__("a2") = c;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
    return a0;
}
#else
static word call(word number, word a, word b, word c) {
    register word x8 __asm__("x8") = number;
    register word x0 __asm__("x0") = a;
    register word x1 __asm__("x1") = b;
    register word x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#endif

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

#ifdef __riscv
__asm__(".globl _start\n_start:\tmv a0, sp\n\tcall start");
#else
__asm__(".globl _start\n_start:\tmov x0, sp\n\tbl start");
#endif
