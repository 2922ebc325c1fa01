/* joined.c: comparisons and the branches behind them: by every condition; with flags that are read on one way on only, or on neither; branches that are jumped to;
 * and what a handler of a fault, which is installed when all of it has run, finds of the flags. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

typedef unsigned long Test(unsigned long a, unsigned long b, const long *at);

/* Flags that are written again on both ways; read if the branch is taken; read if it is not; and the branch is also jumped to, with the flags of another comparison. Last,
 * an access to memory comes before they are written again. */
#define TESTS(name, compare, cond)                                                                                     \
    __attribute__((naked, noinline)) static unsigned long name##_##cond(unsigned long a, unsigned long b,              \
                                                                        const long *at) {                              \
        __asm__("mov x9, #0\n" compare "\nb." #cond " 1f\n"                                                            \
                "add x9, x9, #1\n"                                                                                     \
                "1: cmp x0, #7\nb.ne 2f\n"                                                                             \
                "add x9, x9, #2\n"                                                                                     \
                "2: " compare "\nb." #cond " 3f\n"                                                                     \
                "add x9, x9, #4\ncmp x1, #3\n"                                                                         \
                "3: cset x10, mi\nadd x9, x9, x10, lsl #3\n" compare "\nb." #cond " 4f\n"                              \
                "cset x10, cs\nadd x9, x9, x10, lsl #4\n"                                                              \
                "4: cmp x1, x0\nmov x11, #2\n"                                                                         \
                "b 6f\n"                                                                                               \
                "5: " compare "\n"                                                                                     \
                "6: b." #cond " 7f\n"                                                                                  \
                "add x9, x9, #32\n"                                                                                    \
                "7: subs x11, x11, #1\nb.ne 5b\n" compare "\nb." #cond " 8f\n"                                         \
                "8: ldr x10, [x2]\nadd x9, x9, x10\n"                                                                  \
                "cmp x0, #1\ncset x10, eq\nadd x0, x9, x10, lsl #10\nret\n");                                          \
    }

#define CONDITIONS(name, compare)                                                                                      \
    TESTS(name, compare, eq)                                                                                           \
    TESTS(name, compare, ne)                                                                                           \
    TESTS(name, compare, cs)                                                                                           \
    TESTS(name, compare, cc)                                                                                           \
    TESTS(name, compare, mi)                                                                                           \
    TESTS(name, compare, pl)                                                                                           \
    TESTS(name, compare, vs)                                                                                           \
    TESTS(name, compare, vc)                                                                                           \
    TESTS(name, compare, hi)                                                                                           \
    TESTS(name, compare, ls)                                                                                           \
    TESTS(name, compare, ge)                                                                                           \
    TESTS(name, compare, lt)                                                                                           \
    TESTS(name, compare, gt)                                                                                           \
    TESTS(name, compare, le)

#define ALL(name)                                                                                                      \
    name##_eq, name##_ne, name##_cs, name##_cc, name##_mi, name##_pl, name##_vs, name##_vc, name##_hi, name##_ls,      \
        name##_ge, name##_lt, name##_gt, name##_le

/* With registers that are in host registers, and with others. */
CONDITIONS(cmp, "cmp x0, x1")
CONDITIONS(cmp_w, "mov x12, x0\ncmp w12, w1")
CONDITIONS(cmp_imm, "cmp x0, #5")
CONDITIONS(cmp_zero, "mov w13, w0\ncmp w13, #0")
CONDITIONS(cmn, "cmn w0, #5")
CONDITIONS(cmn_reg, "mov x14, x1\ncmn x0, x14")
CONDITIONS(tst, "tst x0, x1")
CONDITIONS(tst_imm, "tst w0, #0x80000001")
CONDITIONS(fcmp, "fmov d0, x0\nfmov d1, x1\nfcmp d0, d1")

static Test *const tests[] = {ALL(cmp),     ALL(cmp_w), ALL(cmp_imm), ALL(cmp_zero), ALL(cmn),
                              ALL(cmn_reg), ALL(tst),   ALL(tst_imm), ALL(fcmp)};

static const unsigned long values[] = {
    0,          1,          5,          7,           (unsigned long)-5,  (unsigned long)-1,
    0x7fffffff, 0x80000000, 0xfffffffb, 0x100000005, 0x7fffffffffffffff, 0x8000000000000000,
};

enum { TESTS_COUNT = sizeof(tests) / sizeof(tests[0]), VALUES = sizeof(values) / sizeof(values[0]) };

static uint64_t sum;
static void add(uint64_t v) {
    sum = (sum ^ v) * 0x100000001b3u;
}

/* The access is left out. */
static void skip(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    (void)sig, (void)info;
    add(c->uc_mcontext.pstate >> 28);
    c->uc_mcontext.regs[10] = 0;
    c->uc_mcontext.pc += 4;
}

static void run(const char *what, const long *at) {
    for (int t = 0; t < TESTS_COUNT; t++) {
        sum = 1;
        for (int a = 0; a < VALUES; a++)
            for (int b = 0; b < VALUES; b++)
                add(tests[t](values[a], values[b], at));
        printf("%s %d: %llx\n", what, t, (unsigned long long)sum);
    }
}

int main(void) {
    static const long there = 4096;
    struct sigaction a = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
    run("without a handler", &there);
    sigaction(SIGSEGV, &a, NULL);
    run("with a handler", NULL);
    return 0;
}
