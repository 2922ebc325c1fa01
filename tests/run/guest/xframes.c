/* xframes.c: what signal handlers find of the wide vector registers, and what becomes of their changes. */
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { GET_SUPPORTED = 0x1021, GET_PERMITTED = 0x1022 }; /* of arch_prctl */
enum { AVX = 2, OPMASK = 5, ZMM_HIGH = 6, ZMM_16 = 7, HEADER = 512, HEADER_LAYOUT = 520, HEADER_RESERVED = 528 };

static int wide; /* there are zmm registers */
static unsigned offset[8];

static uint8_t *area_of(void *context) {
    return (uint8_t *)((ucontext_t *)context)->uc_mcontext.fpregs;
}

static struct _fpx_sw_bytes *software(uint8_t *area) {
    return (struct _fpx_sw_bytes *)(area + 464);
}

static uint64_t word(const uint8_t *at) {
    uint64_t v;
    memcpy(&v, at, 8);
    return v;
}

static void set_word(uint8_t *at, uint64_t v) {
    memcpy(at, &v, 8);
}

/* ------------------------------------------------------------------------------------------------- the form of frames */

static void show_form(int sig, siginfo_t *info, void *context) {
    uint8_t *area = area_of(context);
    struct _fpx_sw_bytes *s = software(area);
    uint32_t magic;
    memcpy(&magic, area + s->xstate_size, 4);
    printf("flags %lx, aligned %d, magic %x %x, features %lx, size %u, extended %u\n",
           ((ucontext_t *)context)->uc_flags, (uintptr_t)area % 64 == 0, s->magic1, magic, (long)s->xstate_bv,
           s->xstate_size, s->extended_size);
    printf("header: has x87, SSE, AVX %lx, layout %lx\n", (long)word(area + HEADER) & 7,
           (long)word(area + HEADER_LAYOUT));
    printf("mxcsr %x, mask %x, cw %x\n", ((struct _fpstate *)area)->mxcsr, ((struct _fpstate *)area)->mxcr_mask,
           ((struct _fpstate *)area)->cwd);
}

static void show_registers(int sig, siginfo_t *info, void *context) {
    uint8_t *area = area_of(context);
    printf("ymm3 %lx %lx", (long)word(area + 160 + 3 * 16), (long)word(area + offset[AVX] + 3 * 16 + 8));
    if (wide)
        printf(", zmm3 %lx, zmm19 %lx, k2 %lx", (long)word(area + offset[ZMM_HIGH] + 3 * 32 + 24),
               (long)word(area + offset[ZMM_16] + 3 * 64 + 56), (long)word(area + offset[OPMASK] + 2 * 8));
    printf("\n");
}

/* The handler itself begins with clear registers. */
static void show_initial(int sig, siginfo_t *info, void *context) {
    uint8_t high[64] = {1}, sixteen[64] = {1};
    uint64_t mask = 1;
    if (wide)
        asm volatile("vmovdqu64 %%zmm3, %0\n vmovdqu64 %%zmm19, %1\n kmovq %%k2, %2"
                     : "=m"(high), "=m"(sixteen), "=m"(mask));
    else
        asm volatile("vmovdqu %%ymm3, %0" : "=m"(*(uint8_t(*)[32])high));
    int bits = 0;
    for (int i = 16; i < 64; i++)
        bits |= high[i] | (wide ? sixteen[i] : 0);
    printf("initial: %d\n", bits | (wide && mask));
}

/* --------------------------------------------------------------------------------------------------------------- changes */

static void change(int sig, siginfo_t *info, void *context) {
    uint8_t *area = area_of(context);
    set_word(area + 160 + 3 * 16, 0x1111);
    set_word(area + offset[AVX] + 3 * 16 + 8, 0x2222);
    if (wide) {
        set_word(area + offset[ZMM_HIGH] + 3 * 32 + 24, 0x3333);
        set_word(area + offset[ZMM_16] + 3 * 64 + 56, 0x4444);
        set_word(area + offset[OPMASK] + 2 * 8, 0x5555);
    }
}

static void clear_avx(int sig, siginfo_t *info, void *context) {
    uint8_t *area = area_of(context);
    set_word(area + HEADER, word(area + HEADER) & ~(uint64_t)(1 << AVX | 1 << ZMM_16));
}

static void say_legacy(int sig, siginfo_t *info, void *context) {
    software(area_of(context))->magic1 = 0;
}

static void say_without_end(int sig, siginfo_t *info, void *context) {
    uint8_t *area = area_of(context);
    memset(area + software(area)->xstate_size, 0, 4);
}

static void say_less(int sig, siginfo_t *info, void *context) {
    software(area_of(context))->xstate_bv = 3 | 1 << AVX;
}

static void no_state(int sig, siginfo_t *info, void *context) {
    ((ucontext_t *)context)->uc_mcontext.fpregs = NULL;
}

static void move(int sig, siginfo_t *info, void *context) {
    static uint8_t elsewhere[16384] __attribute__((aligned(64)));
    uint8_t *area = area_of(context);
    memcpy(elsewhere, area, software(area)->extended_size);
    set_word(elsewhere + offset[AVX] + 3 * 16 + 8, 0x7777);
    ((ucontext_t *)context)->uc_mcontext.fpregs = (void *)elsewhere;
}

static void move_away(int sig, siginfo_t *info, void *context) {
    ((ucontext_t *)context)->uc_mcontext.fpregs = (void *)64;
}

static void break_layout(int sig, siginfo_t *info, void *context) {
    set_word(area_of(context) + HEADER_LAYOUT, (uint64_t)1 << 63 | 7);
}

static void break_reserved(int sig, siginfo_t *info, void *context) {
    set_word(area_of(context) + HEADER_RESERVED, 1);
}

static void break_mxcsr(int sig, siginfo_t *info, void *context) {
    ((struct _fpstate *)area_of(context))->mxcsr |= 1 << 20;
}

/* Registers are filled, the signal is raised, registers are shown. */
static void raise_with(const char *name, void (*handler)(int, siginfo_t *, void *)) {
    static const uint64_t in[8] = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7};
    uint64_t out[8] = {0}, sixteen[8] = {0}, mask = 0;
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    long pid = getpid();
    sigaction(SIGUSR1, &action, NULL);
    if (wide)
        asm volatile("vmovdqu64 %3, %%zmm3\n vmovdqu64 %3, %%zmm19\n kmovq %4, %%k2\n"
                     "mov $62, %%eax\n mov %5, %%rdi\n mov $10, %%esi\n syscall\n"
                     "vmovdqu64 %%zmm3, %0\n vmovdqu64 %%zmm19, %1\n kmovq %%k2, %2\n vzeroupper"
                     : "=m"(out), "=m"(sixteen), "=m"(mask)
                     : "m"(in), "m"(in[5]), "m"(pid)
                     : "rax", "rcx", "rdi", "rsi", "r11", "memory", "xmm3");
    else
        asm volatile("vmovdqu %1, %%ymm3\n mov $62, %%eax\n mov %2, %%rdi\n mov $10, %%esi\n syscall\n"
                     "vmovdqu %%ymm3, %0\n vzeroupper"
                     : "=m"(*(uint64_t(*)[4])out)
                     : "m"(in), "m"(pid)
                     : "rax", "rcx", "rdi", "rsi", "r11", "memory", "xmm3");
    printf("%s: %lx %lx %lx, %lx, %lx\n", name, (long)out[0], (long)out[3], (long)out[7], (long)sixteen[7], (long)mask);
}

/* ------------------------------------------------------------------------------------------------------------- failures */

static void in_child(const char *name, void (*handler)(int, siginfo_t *, void *)) {
    int status;
    fflush(stdout);
    if (fork() == 0) {
        raise_with(name, handler);
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    printf("%s: %s %d\n", name, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void quiet(int sig, siginfo_t *info, void *context) {
}

/* A stack that has room for a frame of old, and not for this one. */
static void small_stack(void) {
    int status;
    fflush(stdout);
    if (fork() == 0) {
        static char memory[16384];
        stack_t stack = {.ss_sp = memory + 8192, .ss_size = 2048};
        struct sigaction action = {.sa_sigaction = quiet, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigaltstack(&stack, NULL);
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
        _exit(0);
    }
    wait(&status);
    printf("small stack: %s %d\n", WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* The page becomes readable, with something in it, and the register that is half loaded is none. */
static uint8_t *page;

static void repair(int sig, siginfo_t *info, void *context) {
    printf("fault at page + %ld, ymm3 %lx\n", (long)((uint8_t *)info->si_addr - page),
           (long)word(area_of(context) + offset[AVX] + 3 * 16 + 8));
    mprotect(page, 8192, PROT_READ | PROT_WRITE);
    memset(page, 7, 8192);
}

static void faults(void) {
    static const uint64_t in[4] = {1, 2, 3, 4};
    uint64_t out[4], index[4] = {0, 8, 4096, 4104};
    struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    asm volatile("vmovdqu %1, %%ymm3\n vpaddq 4090(%2), %%ymm3, %%ymm3\n vmovdqu %%ymm3, %0\n vzeroupper"
                 : "=m"(out)
                 : "m"(in), "r"(page)
                 : "xmm3", "memory");
    printf("repaired: %lx %lx\n", (long)out[0], (long)out[3]);
    mprotect(page + 4096, 4096, PROT_NONE);
    asm volatile("vmovdqu %1, %%ymm3\n vmovdqu %3, %%ymm4\n vpcmpeqd %%ymm5, %%ymm5, %%ymm5\n vpgatherqq %%ymm5, "
                 "(%2,%%ymm4), %%ymm3\n"
                 "vmovdqu %%ymm3, %0\n vzeroupper"
                 : "=m"(out)
                 : "m"(in), "r"(page), "m"(index)
                 : "xmm3", "xmm4", "xmm5", "memory");
    printf("gathered: %lx %lx\n", (long)out[0], (long)out[3]);
}

int main(void) {
    unsigned a, b, c, d, low, high;
    wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    if (!__builtin_cpu_supports("avx2")) {
        printf("no AVX2\n");
        return 0;
    }
    for (unsigned i = AVX; i < 8; i++) {
        __cpuid_count(0xd, i, a, b, c, d);
        offset[i] = b;
    }
    __cpuid_count(0xd, 0, a, b, c, d);
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    printf("components %x %x, %u bytes; least stack %ld, %ld\n", low, a, b, getauxval(AT_MINSIGSTKSZ),
           sysconf(_SC_MINSIGSTKSZ));
    uint64_t supported = 0, permitted = 0;
    printf("supported %ld", syscall(SYS_arch_prctl, GET_SUPPORTED, &supported));
    printf(" %lx, permitted %ld", (long)supported, syscall(SYS_arch_prctl, GET_PERMITTED, &permitted));
    printf(" %lx\n", (long)permitted);
    raise_with("form", show_form);
    raise_with("registers", show_registers);
    raise_with("initial", show_initial);
    raise_with("change", change);
    raise_with("clear", clear_avx);
    raise_with("legacy", say_legacy);
    raise_with("no end", say_without_end);
    raise_with("less", say_less);
    raise_with("none", no_state);
    raise_with("moved", move);
    in_child("layout", break_layout);
    in_child("reserved", break_reserved);
    in_child("mxcsr", break_mxcsr);
    in_child("nowhere", move_away);
    small_stack();
    faults();
    return 0;
}
