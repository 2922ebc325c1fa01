/* barriers.c: handlers of faults that repair what was wrong, as garbage collectors have them, that jump away, and that look at and change
 * registers. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGES = 16, PAGE = 4096 };

static sigjmp_buf back;
static char *memory;
static volatile int faults;
static volatile uintptr_t last;

static void install(void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
}

static void on_jump(int sig, siginfo_t *info, void *context) {
    (void)context;
    last = (uintptr_t)info->si_addr;
    siglongjmp(back, sig == SIGSEGV ? info->si_code : -1);
}

static void on_barrier(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)context;
    char *page = (char *)((uintptr_t)info->si_addr & -(uintptr_t)PAGE);
    faults++;
    if (page < memory || page >= memory + PAGES * PAGE || mprotect(page, PAGE, PROT_READ | PROT_WRITE))
        _Exit(9);
}

/* ------------------------------------------------------------------------------------------------------------- jumping */

static void jump_away(void) {
    volatile int tries = 0;
    install(on_jump);
    for (volatile uintptr_t at = 8; at < 64; at += 24) {
        int code = sigsetjmp(back, 1);
        if (!code) {
            tries++;
            *(volatile int *)at = 1;
        }
        printf("try %d, code %d, address %lu\n", tries, code, (unsigned long)last);
    }
    int code = sigsetjmp(back, 1);
    if (!code)
        printf("never %d\n", *(volatile char *)(memory + 3 * PAGE));
    printf("code %d, offset %lu\n", code, (unsigned long)(last - (uintptr_t)memory));
}

/* ----------------------------------------------------------------------------------------------------------- repairing */

/* Every kind of access, over page borders too; what is in registers meanwhile must survive. */
static uint64_t access_all(uint64_t seed) {
    uint64_t sum = seed;
    double scale = 1.5, float_sum = (double)(seed % 1000);
    for (int i = 0; i < PAGES * PAGE - 16; i += 61) {
        uint64_t v;
        memcpy(&v, memory + i, 8);
        sum = sum * 31 + v + (uint8_t)memory[i + 3];
        float_sum = float_sum * scale / 1.25 - (double)(i & 255);
        memory[i] = (char)sum;
        memcpy(memory + i + 5, &float_sum, 8);
        *(volatile uint16_t *)(memory + (i & ~1) + 2) = (uint16_t)(sum >> 9);
        if (i % 976 == 0)
            __atomic_fetch_add((int *)(memory + (i & ~3) + 8), 3, __ATOMIC_RELAXED);
    }
    return sum ^ (uint64_t)float_sum;
}

static void repair(void) {
    install(on_barrier);
    static const int ways[] = {PROT_NONE, PROT_READ, PROT_NONE};
    for (int k = 0; k < 3; k++) {
        faults = 0;
        mprotect(memory, PAGES * PAGE, ways[k]);
        uint64_t sum = access_all((uint64_t)k * 77 + 1);
        printf("way %d: %d faults, sum %016llx\n", ways[k], faults, (unsigned long long)sum);
    }
}

/* ----------------------------------------------------------------------------------------------------------- registers */

static uint64_t seen[32];

#ifdef __riscv
static void on_register(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    ucontext_t *u = context;
    for (int i = 5; i < 32; i++)
        seen[i] = (uint64_t)u->uc_mcontext.__gregs[i];
    u->uc_mcontext.__gregs[0] += 4;                          /* over the instruction, */
    u->uc_mcontext.__gregs[6] = 4242;                        /* as if it had loaded this */
    u->uc_mcontext.__fpregs.__d.__f[8] = 0x4045000000000000; /* 42.0 */
}

static void look(void) {
    uint64_t got;
    double f = 0;
    install(on_register);
    __asm__ volatile(".option push\n .option norvc\n"
                     "li t0, 5\n li t2, 7\n li t3, 28\n li t4, 29\n li t5, 30\n li t6, 31\n"
                     "li s2, 18\n li s3, 19\n li s4, 20\n li s5, 21\n li a6, 16\n li a7, 17\n"
                     "addi t1, x0, 16\n ld t1, 0(t1)\n"
                     "add %0, t1, t0\n fmv.d %1, fs0\n .option pop"
                     : "=r"(got), "=f"(f)
                     :
                     : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s2", "s3", "s4", "s5", "a6", "a7", "fs0", "memory");
    for (int i = 5; i < 32; i++)
        if (i < 8 || i == 16 || i == 17 || (i >= 18 && i < 22) || i >= 28)
            printf("x%d %llu\n", i, (unsigned long long)seen[i]);
    printf("got %llu, %g\n", (unsigned long long)got, f);
}
#elif defined(__aarch64__)
static void on_register(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    ucontext_t *u = context;
    for (int i = 0; i < 31; i++)
        seen[i] = (uint64_t)u->uc_mcontext.regs[i];
    u->uc_mcontext.pc += 4;         /* over the instruction, */
    u->uc_mcontext.regs[16] = 4242; /* as if it had loaded this */
}

static void look(void) {
    uint64_t got;
    install(on_register);
    __asm__ volatile(
        "mov x9, #9\n mov x10, #10\n mov x11, #11\n mov x12, #12\n mov x17, #17\n mov x20, #20\n mov x21, #21\n"
        "mov x7, #7\n mov x6, #6\n mov x16, #16\n ldr x16, [x16]\n add %0, x16, x9"
        : "=r"(got)
        :
        : "x6", "x7", "x9", "x10", "x11", "x12", "x16", "x17", "x20", "x21", "memory");
    for (int i = 6; i < 22; i++)
        if (i < 8 || (i >= 9 && i < 13) || i == 16 || i == 17 || i >= 20)
            printf("x%d %llu\n", i, (unsigned long long)seen[i]);
    printf("got %llu\n", (unsigned long long)got);
}
#else
static void on_register(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    ucontext_t *u = context;
    for (int i = 0; i < 16; i++)
        seen[i] = (uint64_t)u->uc_mcontext.gregs[i];
    u->uc_mcontext.gregs[REG_RIP] += 3;
    u->uc_mcontext.gregs[REG_RAX] = 4242;
}

static void look(void) {
    uint64_t got;
    install(on_register);
    __asm__ volatile("mov $8, %%r8\n mov $9, %%r9\n mov $10, %%r10\n mov $12, %%r12\n mov $5, %%rsi\n mov $16, %%eax\n"
                     ".byte 0x48, 0x8b, 0x00\n" /* mov (%rax), %rax in three bytes */
                     "lea (%%rax,%%r8), %0"
                     : "=r"(got)
                     :
                     : "rax", "r8", "r9", "r10", "r12", "rsi", "memory");
    printf("r8 %llu r9 %llu r10 %llu r12 %llu rsi %llu rax %llu\n", (unsigned long long)seen[REG_R8],
           (unsigned long long)seen[REG_R9], (unsigned long long)seen[REG_R10], (unsigned long long)seen[REG_R12],
           (unsigned long long)seen[REG_RSI], (unsigned long long)seen[REG_RAX]);
    printf("got %llu\n", (unsigned long long)got);
}
#endif

int main(void) {
    memory = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    jump_away();
    repair();
    look();
    return 0;
}
