/* segment.c: gs as a segment of the program's own: set by arch_prctl, by each thread for itself, and used in every form of operand. */
#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t area[64] __attribute__((aligned(64)));

static void set_base(const void *base) {
    syscall(SYS_arch_prctl, ARCH_SET_GS, base);
}

static void fill(void) {
    for (int i = 0; i < 64; i++)
        area[i] = 0x0101010101010101ul * (unsigned)i;
}

static uint64_t digest(void) {
    uint64_t h = 0;
    for (int i = 0; i < 64; i++)
        h = h * 6364136223846793005ul + area[i];
    return h;
}

/* ---------------------------------------------------------------------------------------------------------------- forms */

static void integers(void) {
    uint64_t a, b, c, flags;
    __asm__ volatile("mov %%gs:8, %0\n mov %%gs:(%3), %1\n mov %%gs:16(%3,%4,8), %2"
                     : "=&r"(a), "=&r"(b), "=&r"(c) : "r"(24ul), "r"(2ul));
    printf("loads %lx %lx %lx\n", a, b, c);
    __asm__ volatile("mov $0x50, %%r12d\n mov $3, %%r13d\n mov %%gs:-8(%%r12,%%r13,4), %%rsi\n mov %%rsi, %0\n"
                     "movzbl %%gs:5(%%r13), %%edi\n mov %%rdi, %1\n movslq %%gs:(%%r12), %%rbx\n mov %%rbx, %2"
                     : "=m"(a), "=m"(b), "=m"(c) : : "rsi", "rdi", "rbx", "r12", "r13");
    printf("extended %lx %lx %lx\n", a, b, c);
    __asm__ volatile("mov $0x7788, %%ebx\n mov %%bh, %%gs:0x60\n mov %%bl, %%gs:0x61\n mov $0x99aa, %%edx\n mov %%dh, %%gs:0x62\n"
                     "add %%gs:0x62, %%bh\n mov %%rbx, %0" : "=m"(a) : : "rbx", "rdx", "memory");
    printf("bytes %lx %lx\n", a, area[12]);
    __asm__ volatile("stc\n mov $8, %%esi\n adcq $-1, %%gs:(%%rsi)\n pushfq\n pop %0\n lock incq %%gs:8(%%rsi)\n"
                     "lock xaddq %1, %%gs:16(%%rsi)\n movl $0x12345678, %%gs:24(%%rsi)\n movw $0x4321, %%gs:0x30"
                     : "=&r"(flags), "+r"(b) : : "rsi", "memory", "cc");
    printf("changed %lx %lx %lx %lx %lx %lx\n", flags & 0x8d5, b, area[1], area[2], area[3], area[4]);
    uint64_t low = area[8], high = area[9];
    unsigned char same;
    __asm__ volatile("push %%rbx\n mov $111, %%ebx\n lock cmpxchg16b %%gs:64\n sete %0\n pop %%rbx"
                     : "=q"(same), "+a"(low), "+d"(high) : "c"(222ul) : "memory", "cc");
    printf("exchanged %d %lu %lu\n", same, area[8], area[9]);
    __asm__ volatile("pushq %%gs:72\n popq %%gs:80\n addr32 mov %%gs:-8(%%eax), %0\n nopl %%gs:(%%rax)\n lea %%gs:5(%%rax), %1"
                     : "=&r"(a), "=&r"(b) : "a"(0x100000008ul) : "memory");
    printf("pushed %lu, short address %lx, lea %lx\n", area[10], a, b);
    __asm__ volatile("mov $7, %%eax\n mulq %%gs:8\n shll $3, %%gs:4\n bsf %%gs:16, %%rcx\n" : "=a"(a), "=d"(b), "=c"(c) : : "memory", "cc");
    printf("computed %lx %lx %lx, %lx\n", a, b, c, digest());
}

static void vectors(void) {
    uint64_t v[2];
    double d = 2.5;
    __asm__ volatile("movups %%gs:0x40, %%xmm6\n paddq %%gs:(%1), %%xmm6\n movups %%xmm6, %%gs:0x80(%1)\n movups %%xmm6, %0\n"
                     "movsd %2, %%xmm1\n cvtsi2sdq %%gs:8, %%xmm2\n addsd %%xmm1, %%xmm2\n movsd %%xmm2, %%gs:0xa0"
                     : "=m"(v) : "r"(0x20ul), "m"(d) : "xmm1", "xmm2", "xmm6", "memory");
    printf("vectors %lx %lx %lx\n", v[0], v[1], digest());
    __asm__ volatile("fildq %%gs:8\n fistpq %%gs:0xb0" : : : "memory");
    printf("x87 %lx\n", area[22]);
}

static long called(void) {
    return 77;
}

static void control(void) {
    long a, b;
    area[30] = (uint64_t)called;
    __asm__ volatile("sub $128, %%rsp\n call *%%gs:0xf0\n add $128, %%rsp" : "=a"(a) : : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
                     "memory", "cc");
    __asm__ volatile("lea 1f(%%rip), %%rax\n mov %%rax, %%gs:0xf8\n mov $8, %%ecx\n jmp *%%gs:0xb8(,%%rcx,8)\n ud2\n 1: mov $5, %k0"
                     : "=r"(b) : : "rax", "rcx", "memory");
    printf("called %ld, jumped %ld\n", a, b);
}

/* --------------------------------------------------------------------------------------------------------------- faults */

static char *hole;

static void repair(int sig, siginfo_t *info, void *context) {
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("fault %d there %d, registers %llx %llx %llx %llx\n", sig, (char *)info->si_addr == hole + 0x18, (long long)g[REG_RSI],
           (long long)g[REG_RDI], (long long)g[REG_RBX], (long long)g[REG_RBP]);
    mprotect(hole, 4096, PROT_READ | PROT_WRITE);
    g[REG_RDI] = 0x99;
}

static void faults(void) {
    struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
    uint64_t rsi, rdi, rbx;
    hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    set_base(hole);
    __asm__ volatile("push %%rbp\n mov $8, %%esi\n mov $0x22, %%edi\n mov $0x33, %%ebx\n mov $0x44, %%ebp\n"
                     "movq $6, %%gs:0x18\n mov %%rdi, %%gs:(%%rsi,%%rsi)\n mov %%gs:0x18, %%rbx\n pop %%rbp"
                     : "=S"(rsi), "=D"(rdi), "=b"(rbx) : : "memory");
    printf("then %lx %lx %lx, %lx\n", rsi, rdi, rbx, *(uint64_t *)(hole + 0x10));
    set_base(area);
}

/* -------------------------------------------------------------------------------------------------------------- threads */

static void *count(void *arg) {
    uint64_t own[2] = {0, (uint64_t)arg}, sum = 0;
    set_base(own);
    for (int i = 0; i < 200000; i++)
        __asm__ volatile("mov %%gs:8, %%rax\n add %%rax, %%gs:0" : : : "rax", "memory", "cc");
    __asm__ volatile("mov %%gs:0, %0" : "=r"(sum));
    return (void *)sum;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    pthread_t id[3];
    uint64_t base = 1;
    syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    printf("at first %lx\n", base);
    fill();
    set_base(area);
    integers();
    vectors();
    control();
    for (long i = 0; i < 3; i++)
        pthread_create(&id[i], NULL, count, (void *)(i + 1));
    for (int i = 0; i < 3; i++) {
        void *sum;
        pthread_join(id[i], &sum);
        printf("%lu ", (long)sum);
    }
    syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    printf("%d\n", base == (uint64_t)area);
    if (!fork()) {
        __asm__ volatile("mov %%gs:8, %0" : "=r"(base));
        printf("child %lx\n", base);
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    faults();
    return 0;
}
