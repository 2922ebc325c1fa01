/* contexts.c: what handlers find of the processor's state, and change in it: faults, breakpoints, floating point. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t number, code, at_pc;
static ucontext_t found;

/* Goes on behind the instruction. */
static void skip(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    unsigned long pc = c->uc_mcontext.__gregs[REG_PC];
    number = sig, code = info->si_code, at_pc = (unsigned long)info->si_addr == pc;
    found = *c;
    c->uc_mcontext.__gregs[REG_PC] = pc + ((*(uint16_t *)pc & 3) == 3 ? 4 : 2);
}

/* Other values for what the interrupted code holds. */
static void change(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    struct __riscv_mc_d_ext_state *d = &c->uc_mcontext.__fpregs.__d;
    number = sig, code = info->si_code;
    c->uc_mcontext.__gregs[REG_S0 + 1] += 1000;
    double value;
    memcpy(&value, &d->__f[9], sizeof(value));
    value *= 2;
    memcpy(&d->__f[9], &value, sizeof(value));
    d->__fcsr = 3 << 5 | 1 << 3; /* round up; something was divided by zero */
}

static void catch (int sig, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(sig, &a, NULL);
}

static void show(const char *what) {
    printf("%s: signal %d, code %d, at pc %d\n", what, number, code, at_pc);
    number = code = at_pc = 0;
}

static void traps(void) {
    catch (SIGILL, skip);
    catch (SIGTRAP, skip);
    __asm__ volatile(".4byte 0x0000000b"); /* custom-0 */
    show("custom");
    __asm__ volatile(".2byte 0"); /* defined to be illegal */
    show("zero");
    __asm__ volatile(".option push\n .option norvc\n ebreak\n .option pop");
    show("break");
    __asm__ volatile("c.ebreak");
    show("short break");
}

static void registers(void) {
    register long s1 __asm__("s1") = 5;
    register double fs1 __asm__("fs1") = 1.25;
    unsigned long before, after;
    catch (SIGUSR1, change);
    __asm__ volatile("csrrwi %0, fcsr, 5" : "=r"(before));
    register long a0 __asm__("a0") = getpid(), a1 __asm__("a1") = SIGUSR1, a7 __asm__("a7") = 129; /* kill */
    __asm__ volatile("ecall" : "+r"(a0), "+r"(s1), "+f"(fs1) : "r"(a1), "r"(a7) : "memory");
    __asm__ volatile("frcsr %0" : "=r"(after));
    printf("s1 %ld, fs1 %g, fcsr %lx, result %ld\n", s1, fs1, after, a0);
    volatile float third = 1.0f / 3;
    volatile float one = 1, three = 3;
    third = one / three;
    printf("rounded up: %.9g\n", third);
    __asm__ volatile("fscsr zero");
    third = one / three;
    printf("to nearest: %.9g\n", third);
    show("registers");
}

/* The state in a handler for code that is known. */
static void state(void) {
    register long s2 __asm__("s2") = 0x1234567812345678, a5 __asm__("a5") = -7;
    register double fa5 __asm__("fa5") = -0.5;
    __asm__ volatile("fscsr zero\n fsflagsi 17\n .4byte 0x0000000b" : "+r"(s2), "+r"(a5), "+f"(fa5));
    double d;
    memcpy(&d, &found.uc_mcontext.__fpregs.__d.__f[15], sizeof(d));
    printf("s2 %lx, a5 %ld, fa5 %g, fcsr %x\n", (long)found.uc_mcontext.__gregs[18],
           (long)found.uc_mcontext.__gregs[15], d, found.uc_mcontext.__fpregs.__d.__fcsr);
    __asm__ volatile("fscsr zero");
    show("state");
}

int main(void) {
    traps();
    registers();
    state();
    return 0;
}
