/* floats.c: all floating-point registers: as handlers find and change them where instructions fault and wherever a signal interrupts a loop, across system calls, and
 * around every kind of instruction, with registers of all kinds that are one or several. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

/* clang-format off */
#define EACH(M)                                                                           \
    M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) \
    M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)
/* clang-format on */
#define LOAD(n) "fld f" #n ", 8*" #n "(t0)\n"
#define SAVE(n) "fsd f" #n ", 8*" #n "(t0)\n"
#define GROW(n) "fadd.d f" #n ", f" #n ", f31\n"

uint64_t values[32], after[32], saved[32];
static volatile int faults, wrong, ticks;

/* -------------------------------------------------------------------------------------------------------------- faults */

/* A function that saves all registers, loads `values`, does the instruction with a1 as an address, stores all into `after`, and restores them. */
#define CASE(name, text)                                                                                               \
    __asm__(".option push\n.option norvc\n.text\n" #name ":\nla t0, saved\n" EACH(SAVE) "la t0, values\n" EACH(LOAD)   \
                text "\nla t0, after\n" EACH(SAVE) "la t0, saved\n" EACH(LOAD) "ret\n.option pop\n");                  \
    long name(long a0, const void *a1);

#define CASES(M)                                                                                                       \
    M(load, "ld a0, 0(a1)")                                                                                            \
    M(load_double, "fld fa0, 0(a1)")                                                                                   \
    M(load_single, "flw fa1, 4(a1)")                                                                                   \
    M(load_saved, "fld fs1, 8(a1)")                                                                                    \
    M(load_other, "fld fa7, 8(a1)")                                                                                    \
    M(load_single_to_other, "flw ft11, 0(a1)")                                                                         \
    M(store_double, "fsd fa5, 16(a1)")                                                                                 \
    M(store_single, "fsw fs3, 0(a1)")                                                                                  \
    M(store_other, "fsd fs11, 0(a1)")                                                                                  \
    M(add, "amoadd.d a0, a0, (a1)")
CASES(CASE)

static uint64_t changed(int i) {
    return values[i] + 0x1000000000000001u * (unsigned)i;
}

/* Goes on behind the instruction, with other values. */
static void skip(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    struct __riscv_mc_d_ext_state *d = &c->uc_mcontext.__fpregs.__d;
    (void)sig, (void)info;
    for (int i = 0; i < 32; i++) {
        unsigned long found = d->__f[i];
        wrong += found != values[i];
        d->__f[i] = changed(i);
    }
    faults++;
    c->uc_mcontext.__gregs[REG_PC] += 4;
}

static void check(const char *name, long (*function)(long, const void *)) {
    for (int i = 0; i < 32; i++)
        values[i] = 0x3ff123456789abcdu * (unsigned)(i + 1) ^ (uint64_t)faults << 40;
    function(1, (void *)16);
    int kept = 0;
    for (int i = 0; i < 32; i++)
        kept += after[i] == changed(i);
    printf("%s: fault %d, %d wrong, %d as changed\n", name, faults, wrong, kept);
}

#define CHECK(name, text) check(#name, name);

static void faulting(void) {
    struct sigaction a = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &a, NULL);
    CASES(CHECK)
}

/* ---------------------------------------------------------------------------------------------------------- interruptions */

/* All registers grow by the last one, one behind the other, until `ticks` is 30. */
__asm__(".text\ngrow:\nla t0, saved\n" EACH(SAVE) "la t0, values\n" EACH(LOAD) "grow_loop:\n" EACH(
    GROW) "fld f31, 8*31(t0)\nlw t1, (a0)\nslti t1, t1, 30\nbnez t1, "
          "grow_loop\ngrow_end:\nla t0, saved\n" EACH(LOAD) "ret\n");
void grow(volatile int *ticks);
extern const char grow_loop[], grow_end[];

/* Those in front have grown once more than those behind. The last one changes in another way. */
static void look(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    double f[31];
    int steps = 0;
    (void)sig, (void)info;
    unsigned long pc = c->uc_mcontext.__gregs[REG_PC];
    if (pc < (unsigned long)grow_loop || pc >= (unsigned long)grow_end)
        return; /* not there yet */
    memcpy(f, c->uc_mcontext.__fpregs.__d.__f, sizeof(f));
    for (int i = 0; i < 30; i++) {
        double difference = f[i] - i - (f[i + 1] - (i + 1));
        steps += difference == 1;
        wrong += difference != 0 && difference != 1;
    }
    wrong += steps > 1;
    double clobber = ticks; /* what the handler does with registers is nobody's matter */
    __asm__ volatile("fmv.d fa0, %0\nfmv.d fs1, %0\nfmv.d ft0, %0\nfmv.d ft9, %0"
                     :
                     : "f"(clobber)
                     : "fa0", "fs1", "ft0", "ft9");
    ticks++;
}

static void interrupted(void) {
    struct sigaction a = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {0};
    wrong = 0;
    for (int i = 0; i < 32; i++) {
        double d = i == 31 ? 1 : i;
        memcpy(&values[i], &d, sizeof(d));
    }
    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    grow(&ticks);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("interrupted: %d wrong\n", wrong);
}

/* ---------------------------------------------------------------------------------------------------------------- calls */

static void calling(void) {
    register double fa0 __asm__("fa0") = 1.5, fs1 __asm__("fs1") = 2.5, ft1 __asm__("ft1") = 3.5,
                        fa7 __asm__("fa7") = 4.5;
    register long a0 __asm__("a0") = 0, a7 __asm__("a7") = 172; /* getpid */
    __asm__ volatile("ecall" : "+r"(a0), "+f"(fa0), "+f"(fs1), "+f"(ft1), "+f"(fa7) : "r"(a7));
    double all[] = {fa0, fs1, ft1, fa7};
    printf("called: %d %g %g %g %g\n", a0 == getpid(), all[0], all[1], all[2], all[3]);
}

/* ---------------------------------------------------------------------------------------------------------- instructions */

/* Instructions whose registers are zero. */
static const struct {
    const char *name;
    uint32_t word;
    int registers; /* how many they have: rd, rs1, rs2, rs3 */
} kinds[] = {
    {"fadd.d", 0x02007053, 3},     {"fsub.d", 0x0a007053, 3},       {"fmul.d", 0x12007053, 3},
    {"fdiv.d", 0x1a007053, 3},     {"fadd.d, away", 0x02004053, 3}, {"fadd.s", 0x00007053, 3},
    {"fmul.s, up", 0x10003053, 3}, {"fsqrt.d", 0x5a007053, 2},      {"fmadd.d", 0x02007043, 4},
    {"fmsub.d", 0x02007047, 4},    {"fnmsub.d", 0x0200704b, 4},     {"fnmadd.d", 0x0200704f, 4},
    {"fmadd.s", 0x00007043, 4},    {"fsgnj.d", 0x22000053, 3},      {"fsgnjn.d", 0x22001053, 3},
    {"fsgnjx.d", 0x22002053, 3},   {"fmin.d", 0x2a000053, 3},       {"fmax.s", 0x28001053, 3},
    {"fcvt.s.d", 0x40107053, 2},   {"fcvt.d.s", 0x42000053, 2},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds), EACH_KIND = 2, INSNS = 68 };

static uint32_t seed = 1;

static uint32_t next(void) {
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static uint32_t fill(uint32_t word, int registers) {
    static const int shifts[] = {7, 15, 20, 27};
    uint32_t first = next() % 32;
    for (int i = 0; i < registers; i++)
        word |= (i && next() % 3 ? next() % 32 : first) << shifts[i];
    return word;
}

/* fld of all from (a0), the instruction, fsd of all to (a1), frflags a0, ret. */
static void make(uint32_t *code, uint32_t word) {
    for (uint32_t i = 0; i < 32; i++)
        *code++ = 0x00003007 | (8 * i) << 20 | 10 << 15 | i << 7;
    *code++ = word;
    for (uint32_t i = 0; i < 32; i++)
        *code++ = 0x00003027 | (8 * i >> 5) << 25 | i << 20 | 11 << 15 | (8 * i & 31) << 7;
    *code++ = 0x00102573;
    *code = 0x00008067;
}

static uint64_t operand(void) {
    static const uint64_t some[] = {0,
                                    1,
                                    (uint64_t)1 << 63,
                                    (uint64_t)0x7ff << 52,
                                    0x7ff8000000000123,
                                    0xfff0000000000001,
                                    0xffffffff7f800001,
                                    0xffffffff3f800000,
                                    0x3ff8000000000000,
                                    0x4008000000000001};
    double d = (double)next() / 7 - 1000;
    uint64_t bits;
    float f = (float)d;
    uint32_t low;
    memcpy(&bits, &d, sizeof(bits));
    memcpy(&low, &f, sizeof(low));
    uint32_t kind = next() % 8;
    return kind == 0 ? some[next() % 10] : kind < 4 ? 0xffffffff00000000 | low : bits;
}

/* Calls the code with all registers as in `in`; they are in `out` then, and the flags are returned. */
static long call(const void *code, const uint64_t in[32], uint64_t out[32]) {
    register long a0 __asm__("a0") = (long)in, a1 __asm__("a1") = (long)out, a2 __asm__("a2") = (long)code;
    __asm__ volatile("fscsr zero\njalr a2"
                     : "+r"(a0)
                     : "r"(a1), "r"(a2)
                     : "ra", "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10",
                       "ft11", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs0", "fs1", "fs2", "fs3",
                       "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11");
    return a0;
}

static uint64_t add_to_hash(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x100000001b3;
}

static uint64_t hash_of(const uint32_t *code) {
    uint64_t in[32], out[32], hash = 0;
    for (int i = 0; i < EACH_KIND; i++) {
        for (int r = 0; r < 32; r++)
            in[r] = operand();
        hash = add_to_hash(hash, (uint64_t)call(code + i * INSNS, in, out));
        for (int r = 0; r < 32; r++)
            hash = add_to_hash(hash, out[r]);
    }
    return hash;
}

static void instructions(void) {
    enum { BYTES = KINDS * EACH_KIND * INSNS * 4 };
    uint32_t *code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < KINDS * EACH_KIND; i++)
        make(code + i * INSNS, fill(kinds[i / EACH_KIND].word, kinds[i / EACH_KIND].registers));
    mprotect(code, BYTES, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)code, (char *)code + BYTES);
    for (int k = 0; k < KINDS; k++)
        printf("%s: %016lx\n", kinds[k].name, hash_of(code + k * EACH_KIND * INSNS));
}

int main(void) {
    faulting();
    interrupted();
    calling();
    instructions();
    return 0;
}
