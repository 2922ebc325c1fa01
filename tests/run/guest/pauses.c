/* pauses.c: a program without libraries that calls a new function after each pause, and all of that several times:
 * pauses MILLISECONDS COUNT [TIMES]. It prints what they computed, and ends with status 7. */
#define REPEAT8(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define REPEAT32(M, a, b, c, d) REPEAT8(M, a) REPEAT8(M, b) REPEAT8(M, c) REPEAT8(M, d)
#define ALL(M) REPEAT32(M, 1, 2, 3, 4) REPEAT32(M, 5, 6, 7, 8)

#define FUNCTION(n)                                                                                                    \
    __attribute__((noinline, noclone)) static unsigned long f##n(unsigned long x) {                                    \
        for (int i = 0; i < n; i++)                                                                                    \
            x = x * 0x9e3779b97f4a7c15 + n;                                                                            \
        return x ^ x >> (n % 31 + 1);                                                                                  \
    }
ALL(FUNCTION)

#define NAME(n) f##n,
static unsigned long (*const functions[])(unsigned long) = {ALL(NAME)};

static long call(long number, long a, long b, long c) {
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}

static unsigned long number_of(const char *text) {
    unsigned long n = 0;
    while (*text >= '0' && *text <= '9')
        n = n * 10 + (unsigned long)(*text++ - '0');
    return n;
}

static void print(unsigned long n) {
    char line[17];
    for (int i = 15; i >= 0; i--, n >>= 4)
        line[i] = "0123456789abcdef"[n & 15];
    line[16] = '\n';
    call(1, 1, (long)line, sizeof(line));
}

__attribute__((used)) static void begin(long *stack) {
    char **argv = (char **)(stack + 1);
    unsigned long ms = number_of(argv[1]), count = number_of(argv[2]), times = *stack > 3 ? number_of(argv[3]) : 1,
                  x = 1;
    for (unsigned long i = 0; i < count * times; i++) {
        unsigned long pause[2] = {ms / 1000, ms % 1000 * 1000000};
        x = functions[i % count](x);
        if (ms)
            call(35, (long)pause, 0, 0);
    }
    print(x);
    call(60, 7, 0, 0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\nhlt");
