/* wild.c: jumps, calls and returns to where nothing is, all over the address space, with a handler that goes on elsewhere, and to code that comes and goes at low
 * and at high addresses: whoever looks their targets up must not take something else for code. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096 };

static sigjmp_buf back;
static volatile uintptr_t address, pc;
static volatile int code;

static void leave(int sig, siginfo_t *info, void *context) {
    code = info->si_code;
    address = (uintptr_t)info->si_addr;
    pc = ((ucontext_t *)context)->uc_mcontext.__gregs[REG_PC];
    siglongjmp(back, sig);
}

static void jump(uintptr_t to) {
    __asm__ volatile("jr %0" ::"r"(to) : "memory");
}

static void call(uintptr_t to) {
    __asm__ volatile("jalr ra, 0(%0)" ::"r"(to) : "ra", "memory");
}

static void ret(uintptr_t to) {
    __asm__ volatile("mv ra, %0; ret" ::"r"(to) : "ra", "memory");
}

static void attempt(const char *name, void (*go)(uintptr_t), uintptr_t to) {
    int sig = sigsetjmp(back, 1);
    if (!sig)
        go(to);
    else
        printf("%s %lx: signal %d code %d%s%s\n", name, to, sig, code, pc == (to & -2ul) ? " there" : "",
               address == pc ? ", and said so" : "");
}

/* Addresses at which neither the program nor its libraries are, for qemu and for us; the odd ones are rounded down. */
static const uintptr_t nothing[] = {
    0,
    1,
    0x1000,
    0x2f7ff000,
    0x71000001,
    0x7ff00001,
    0x1c0000001,
    0x243efffff,
    0x243f00000,
    0x100000000000,
    0x7fffffffffff,
    0x800000000001,
    0x1fffffffffffffff,
    0x2000000000000000,
    0x4000000000000001,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xc000000000001000,
    0xe000000000000000,
    -4096ul,
    -1ul,
};

/* addi a0, a0, n; ret */
static void write_code(uint32_t *at, uint32_t n) {
    at[0] = 0x00050513 | n << 20;
    at[1] = 0x00008067;
    __builtin___clear_cache((char *)at, (char *)(at + 2));
}

/* Functions at an address, called while they change, go away and are there again. */
static void come_and_go(uintptr_t where) {
    enum { FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE };
    long sum = 0;
    for (uint32_t n = 1; n <= 3; n++) {
        uint32_t *text = mmap((void *)where, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, FLAGS, -1, 0);
        if ((uintptr_t)text != where) {
            printf("%lx: not to be had\n", where);
            return;
        }
        for (uint32_t i = 0; i < 4; i++) {
            write_code(text, n * 16 + i);
            sum = ((long (*)(long))text)(sum);
            sum = ((long (*)(long))((uintptr_t)text | 1))(sum);
        }
        munmap(text, PAGE);
        attempt("call", call, where);
    }
    printf("%lx: %ld\n", where, sum);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++) {
            attempt("jump", jump, nothing[i]);
            attempt("call", call, nothing[i]);
            attempt("return", ret, nothing[i]);
        }
    come_and_go(0x28000000);
    come_and_go(0x40000000000);
    return 0;
}
