/* exactly.c: all registers as handlers find them, where instructions of many kinds fault, and wherever a signal interrupts a loop. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

/* Every general register but zero, gp and tp. */
/* clang-format off */
#define EACH(M)                                                                       \
    M(1) M(2) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) M(18) \
    M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31) M(5)
/* clang-format on */
#define NUMBER(n) n,
static const int order[] = {EACH(NUMBER)};
enum { COUNT = sizeof(order) / sizeof(*order), ROUNDS = 20 };

unsigned long values[32], after[32], saved[32], seen[32];
static volatile int faults;

/* A function that saves all registers, loads `values` (x5 last, which has the address), does the instruction, stores all into `after`, and restores them. */
#define SAVE(n) "sd x" #n ", 8*" #n "(x5)\n"
#define LOAD(n) "ld x" #n ", 8*" #n "(x5)\n"
#define BEGIN(name) ".option push\n.option norvc\n.text\n.globl " name "\n" name ":\n"
#define ENTER "la x5, saved\n" EACH(SAVE) "la x5, values\n" EACH(LOAD)
#define NOTE "fmv.d.x ft11, x5\nla x5, after\n" EACH(SAVE) "fmv.x.d x6, ft11\nsd x6, 8*5(x5)\n"
#define LEAVE "la x5, saved\n" EACH(LOAD) "ret\n.option pop\n"
#define CASE(name, text)                                                                                               \
    __asm__(BEGIN(#name) ENTER text "\n" NOTE LEAVE);                                                                  \
    void name(void);

#define CASES(M)                                                                                                       \
    M(load, "ld a0, 0(a1)")                                                                                            \
    M(load_own, "ld a0, 8(a0)")                                                                                        \
    M(load_word, "lw ra, 4(ra)")                                                                                       \
    M(load_first, "ld a2, 0(a2)")                                                                                      \
    M(load_byte, "lbu s1, 1(sp)")                                                                                      \
    M(load_other, "ld t1, 0(s2)")                                                                                      \
    M(load_to_other, "lhu s3, 2(s0)")                                                                                  \
    M(load_for_none, "ld zero, 0(a5)")                                                                                 \
    M(store, "sd a3, 0(a4)")                                                                                           \
    M(store_first, "sd a2, 0(a2)")                                                                                     \
    M(store_link, "sw ra, 4(ra)")                                                                                      \
    M(store_other, "sh t1, 2(a5)")                                                                                     \
    M(store_zero, "sd zero, 16(s1)")                                                                                   \
    M(add, "amoadd.d a0, a1, (a2)")                                                                                    \
    M(add_own, "amoadd.w a0, a0, (ra)")                                                                                \
    M(add_to_base, "amoadd.d a5, s0, (a5)")                                                                            \
    M(set_bits, "amoor.w s0, t1, (s2)")                                                                                \
    M(greatest, "amomax.d t1, s1, (a5)")                                                                               \
    M(swap, "amoswap.w zero, a3, (a4)")                                                                                \
    M(swap_own, "amoswap.d a0, a0, (s1)")                                                                              \
    M(reserve, "lr.d a5, (sp)")                                                                                        \
    M(load_float, "fld fa0, 8(ra)")                                                                                    \
    M(store_float, "fsd fa0, 0(a2)")                                                                                   \
    M(illegal, ".4byte 0x0000000b")

CASES(CASE)

/* Each time around, all registers count one further. */
extern char loop[], loop_end[];
void count(void);
#define COUNT_ON(n) "addi x" #n ", x" #n ", 1\n"
__asm__(BEGIN("count") ENTER ".globl loop\nloop:\n" EACH(COUNT_ON) "j loop\n.globl loop_end\nloop_end:\n" LEAVE);

static void on_fault(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    (void)sig, (void)info;
    memcpy(seen, c->uc_mcontext.__gregs, sizeof(seen));
    c->uc_mcontext.__gregs[REG_PC] += 4;
    faults++;
}

static int differing(const unsigned long *found) {
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += found[order[i]] != values[order[i]];
    return wrong;
}

static void try(const char *name, void (*test)(void)) {
    faults = 0;
    test();
    printf("%s: %d faults, %d wrong in the handler, %d behind it\n", name, faults, differing(seen), differing(after));
}

static unsigned long base(int i) {
    return (unsigned long)order[i] << 32;
}

static volatile int interrupts, wrong;

static void on_timer(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    unsigned long *x = (unsigned long *)c->uc_mcontext.__gregs, pc = x[REG_PC];
    (void)sig, (void)info;
    if (pc < (unsigned long)loop || pc >= (unsigned long)loop_end)
        return;
    int done = (int)((pc - (unsigned long)loop) / 4);
    unsigned long rounds = x[order[COUNT - 1]] - base(COUNT - 1);
    for (int i = 0; i < COUNT; i++)
        wrong += x[order[i]] != base(i) + rounds + (i < done && done < COUNT);
    if (++interrupts == ROUNDS)
        x[REG_PC] = (unsigned long)loop_end;
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
        values[i] = 8 * i; /* no memory is there */
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
