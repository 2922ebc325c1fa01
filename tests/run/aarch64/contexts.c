/* contexts.c: what handlers find of the processor's state, and change in it: faults, breakpoints, floating point. */
#include <asm/sigcontext.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t number, code, at_pc;
static ucontext_t found;

static struct fpsimd_context *vectors_of(ucontext_t *c) {
    return (struct fpsimd_context *)c->uc_mcontext.__reserved;
}

/* Goes on behind the instruction. */
static void skip(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    number = sig, code = info->si_code, at_pc = (unsigned long)info->si_addr == c->uc_mcontext.pc;
    found = *c;
    c->uc_mcontext.pc += 4;
}

/* Other values for what the interrupted code holds. */
static void change(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    struct fpsimd_context *v = vectors_of(c);
    number = sig, code = info->si_code;
    c->uc_mcontext.regs[20] += 1000;
    c->uc_mcontext.pstate ^= 0xf0000000;
    double value;
    memcpy(&value, &v->vregs[9], sizeof(value));
    value *= 2;
    memcpy(&v->vregs[9], &value, sizeof(value));
    v->fpsr = 2; /* something was divided by zero */
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
    catch (SIGSEGV, skip);
    __asm__ volatile(".4byte 0x01000000"); /* not allocated */
    show("nothing");
    __asm__ volatile("udf #7");
    show("udf");
    __asm__ volatile("brk #1");
    show("break");
    __asm__ volatile("ldr x0, [%0]" : : "r"(64ul) : "x0");
    printf("fault at %lx\n", (unsigned long)found.uc_mcontext.fault_address);
    show("load");
}

static void registers(void) {
    register long x20 __asm__("x20") = 5;
    register double d9 __asm__("v9") = 1.25;
    unsigned long fpsr, flags;
    catch (SIGUSR1, change);
    register long x0 __asm__("x0") = getpid(), x1 __asm__("x1") = SIGUSR1, x8 __asm__("x8") = 129; /* kill */
    __asm__ volatile("cmp xzr, xzr\n svc #0\n mrs %3, nzcv"
                     : "+r"(x0), "+r"(x20), "+w"(d9), "=r"(flags)
                     : "r"(x1), "r"(x8)
                     : "memory", "cc");
    __asm__ volatile("mrs %0, fpsr" : "=r"(fpsr));
    printf("x20 %ld, d9 %g, fpsr %lx, result %ld, flags %lx\n", x20, d9, fpsr & 2, x0, flags >> 28);
    show("registers");
}

/* The state in a handler for code that is known. */
static void state(void) {
    register long x21 __asm__("x21") = 0x1234567812345678, x5 __asm__("x5") = -7;
    register double d15 __asm__("v15") = -0.5;
    __asm__ volatile("msr fpsr, %3\n cmp %0, #1\n udf #0" : "+r"(x21), "+r"(x5), "+w"(d15) : "r"(17ul) : "cc");
    const struct fpsimd_context *v = vectors_of(&found);
    double d;
    memcpy(&d, &v->vregs[15], sizeof(d));
    printf("x21 %llx, x5 %lld, d15 %g, fpsr %x, flags %llx\n", (unsigned long long)found.uc_mcontext.regs[21],
           (long long)found.uc_mcontext.regs[5], d, v->fpsr, (unsigned long long)found.uc_mcontext.pstate >> 28);
    printf("record %x of %u bytes\n", v->head.magic, v->head.size);
    show("state");
}

int main(void) {
    traps();
    registers();
    state();
    return 0;
}
