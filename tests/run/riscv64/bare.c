/* bare.c: a program without libraries: prints its arguments and ends with their number. */
static long call(long number, long a, long b, long c) {
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

__attribute__((used)) static void begin(long *stack) {
    enum { WRITE = 64, EXIT = 93 };
    char **argv = (char **)(stack + 1);
    for (long i = 0; i < stack[0]; i++) {
        long len = 0;
        while (argv[i][len])
            len++;
        call(WRITE, 1, (long)argv[i], len);
        call(WRITE, 1, (long)"\n", 1);
    }
    call(EXIT, stack[0], 0, 0);
}

__asm__(".globl _start\n_start: mv a0, sp\n call begin\n");
