/* bare.c: a program without libraries: prints its arguments and ends with their number. */
static long call(long number, long a, long b, long c) {
    register long x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x8 __asm__("x8") = number;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
    return x0;
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

__asm__(".globl _start\n_start: mov x0, sp\n bl begin\n");
