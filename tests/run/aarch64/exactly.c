/* exactly.c: general registers, and the vector registers that translators like to keep, as handlers find them, where instructions of many kinds fault, and wherever a signal interrupts a loop. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

/* Every general register but sp and x18; x16 has the address, and is loaded last. */
/* clang-format off */
#define EACH(M)                                                                       \
    M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(17) \
    M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(16)
/* clang-format on */
#define NUMBER(n) n,
static const int order[] = {EACH(NUMBER)};
enum { COUNT = sizeof(order) / sizeof(*order), ROUNDS = 20 };

unsigned long values[32], after[32], saved[32], seen[32];
static volatile int faults;

/* And these vector registers. */
/* clang-format off */
#define EACH_VECTOR(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(16) M(17)
/* clang-format on */
enum { VECTORS = 18 };
unsigned char vectors[VECTORS][16];
static int wrong_vectors;

/* A function that saves all registers, loads `values`, does the instruction, stores all into `after`, and restores them. */
#define SAVE(n) "str x" #n ", [x16, 8*" #n "]\n"
#define LOAD(n) "ldr x" #n ", [x16, 8*" #n "]\n"
#define ADDRESS(name) "adrp x16, " name "\nadd x16, x16, :lo12:" name "\n"
#define BEGIN(name) ".text\n.globl " name "\n" name ":\n"
#define LOAD_VECTOR(n) "ldr q" #n ", [x16, 16*" #n "]\n"
#define ENTER ADDRESS("saved") EACH(SAVE) ADDRESS("vectors") EACH_VECTOR(LOAD_VECTOR) ADDRESS("values") EACH(LOAD)
#define NOTE "fmov d31, x16\n" ADDRESS("after") EACH(SAVE) "fmov x17, d31\nstr x17, [x16, 8*16]\n"
#define LEAVE ADDRESS("saved") EACH(LOAD) "ret\n"
#define CASE(name, text)                                                                                               \
    __asm__(BEGIN(#name) ENTER text "\n" NOTE LEAVE);                                                                  \
    void name(void);

#define CASES(M)                                                                                                       \
    M(load, "ldr x0, [x1]")                                                                                            \
    M(load_own, "ldr x0, [x0, #8]")                                                                                    \
    M(load_word, "ldr w30, [x30, #4]")                                                                                 \
    M(load_before, "ldr x2, [x3, #16]!")                                                                               \
    M(load_after, "ldr x2, [x3], #16")                                                                                 \
    M(load_pair, "ldp x0, x20, [x19, #32]")                                                                            \
    M(load_pair_own, "ldp x5, x6, [x6]")                                                                               \
    M(load_pair_after, "ldp x21, x22, [x23], #16")                                                                     \
    M(load_byte, "ldrb w19, [x20, #1]")                                                                                \
    M(load_sum, "ldr x7, [x8, x9, lsl #3]")                                                                            \
    M(load_for_none, "ldr xzr, [x5]")                                                                                  \
    M(store, "str x3, [x4]")                                                                                           \
    M(store_before, "str x3, [x4, #-8]!")                                                                              \
    M(store_pair, "stp x29, x30, [x5, #-64]!")                                                                         \
    M(store_link, "str w30, [x30, #4]")                                                                                \
    M(store_zero, "str xzr, [x20, #16]")                                                                               \
    M(add, "ldaddal x0, x1, [x2]")                                                                                     \
    M(add_own, "ldadd w0, w0, [x30]")                                                                                  \
    M(set_bits, "ldset w19, w7, [x8]")                                                                                 \
    M(greatest, "ldsmax x7, x20, [x5]")                                                                                \
    M(swap, "swp w3, wzr, [x4]")                                                                                       \
    M(compare, "casal x5, x6, [x7]")                                                                                   \
    M(reserve, "ldaxr x5, [x6]")                                                                                       \
    M(load_float, "ldr d0, [x30, #8]")                                                                                 \
    M(load_vector, "ldr q3, [x11, #16]")                                                                               \
    M(load_vectors, "ld1 {v0.16b, v1.16b}, [x12], #32")                                                                \
    M(store_vector, "stp q0, q17, [x2, #32]!")                                                                         \
    M(load_structures, "ld4 {v0.16b, v1.16b, v2.16b, v3.16b}, [x12], #64")                                             \
    M(load_three, "ld3 {v7.4s, v8.4s, v9.4s}, [x30]")                                                                  \
    M(store_structures, "st4 {v4.8h, v5.8h, v6.8h, v7.8h}, [x1], #64")                                                 \
    M(store_three, "st3 {v16.8b, v17.8b, v18.8b}, [x20]")                                                              \
    M(compare_pairs, "caspal x4, x5, x0, x1, [x2]")                                                                    \
    M(compare_pairs_zero, "caspal x30, xzr, x20, x21, [x8]")                                                           \
    M(reserve_pair, "ldaxp x5, x19, [x6]")                                                                             \
    M(illegal, "udf #3")

__asm__(".arch armv8.2-a");
CASES(CASE)

/* Each time around, all registers count one further. */
extern char loop[], loop_end[];
void count(void);
#define COUNT_ON(n) "add x" #n ", x" #n ", 1\n"
__asm__(BEGIN("count") ENTER ".globl loop\nloop:\n" EACH(COUNT_ON) "b loop\n.globl loop_end\nloop_end:\n" LEAVE);

static void look_at_vectors(const ucontext_t *c) {
    const struct fpsimd_context *f = (const void *)c->uc_mcontext.__reserved;
#define COMPARE(n) wrong_vectors += memcmp(&f->vregs[n], vectors[n], 16) != 0;
    EACH_VECTOR(COMPARE)
}

static void on_fault(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    (void)sig, (void)info;
    memcpy(seen, c->uc_mcontext.regs, sizeof(c->uc_mcontext.regs));
    look_at_vectors(c);
    c->uc_mcontext.pc += 4;
    faults++;
}

static int differing(const unsigned long *found) {
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += found[order[i]] != values[order[i]];
    return wrong;
}

static void try(const char *name, void (*test)(void)) {
    faults = wrong_vectors = 0;
    test();
    printf("%s: %d faults, %d and %d vectors wrong in the handler, %d behind it\n", name, faults, differing(seen),
           wrong_vectors, differing(after));
}

static unsigned long base(int i) {
    return (unsigned long)order[i] << 32;
}

static volatile int interrupts, wrong;

static void on_timer(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    unsigned long *x = (unsigned long *)c->uc_mcontext.regs, pc = c->uc_mcontext.pc;
    (void)sig, (void)info;
    if (pc < (unsigned long)loop || pc >= (unsigned long)loop_end)
        return;
    int done = (int)((pc - (unsigned long)loop) / 4);
    unsigned long rounds = x[order[COUNT - 1]] - base(COUNT - 1);
    for (int i = 0; i < COUNT; i++)
        wrong += x[order[i]] != base(i) + rounds + (i < done && done < COUNT);
    if (++interrupts == ROUNDS)
        c->uc_mcontext.pc = (unsigned long)loop_end;
}

static void catch (int sig, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(sig, &a, NULL);
}

int main(void) {
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    sigaltstack(&alternate, NULL);
    catch (SIGSEGV, on_fault);
    catch (SIGILL, on_fault);
    for (int i = 0; i < 32; i++)
        values[i] = 16 * i; /* no memory is there */
    for (int i = 0; i < VECTORS * 16; i++)
        vectors[i / 16][i % 16] = (unsigned char)(7 * i + 1);
#define TRY(name, text) try(#name, name);
    CASES(TRY)
    for (int i = 0; i < COUNT; i++)
        values[order[i]] = base(i);
    catch (SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
    count();
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    printf("%d interrupts, %d wrong\n", interrupts, wrong);
    return 0;
}
