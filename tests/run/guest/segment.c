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
                     : "=&r"(a), "=&r"(b), "=&r"(c)
                     : "r"(24ul), "r"(2ul));
    printf("loads %lx %lx %lx\n", a, b, c);
    __asm__ volatile("mov $0x50, %%r12d\n mov $3, %%r13d\n mov %%gs:-8(%%r12,%%r13,4), %%rsi\n mov %%rsi, %0\n"
                     "movzbl %%gs:5(%%r13), %%edi\n mov %%rdi, %1\n movslq %%gs:(%%r12), %%rbx\n mov %%rbx, %2"
                     : "=m"(a), "=m"(b), "=m"(c)
                     :
                     : "rsi", "rdi", "rbx", "r12", "r13");
    printf("extended %lx %lx %lx\n", a, b, c);
    __asm__ volatile(
        "mov $0x7788, %%ebx\n mov %%bh, %%gs:0x60\n mov %%bl, %%gs:0x61\n mov $0x99aa, %%edx\n mov %%dh, %%gs:0x62\n"
        "add %%gs:0x62, %%bh\n mov %%rbx, %0"
        : "=m"(a)
        :
        : "rbx", "rdx", "memory");
    printf("bytes %lx %lx\n", a, area[12]);
    __asm__ volatile("stc\n mov $8, %%esi\n adcq $-1, %%gs:(%%rsi)\n pushfq\n pop %0\n lock incq %%gs:8(%%rsi)\n"
                     "lock xaddq %1, %%gs:16(%%rsi)\n movl $0x12345678, %%gs:24(%%rsi)\n movw $0x4321, %%gs:0x30"
                     : "=&r"(flags), "+r"(b)
                     :
                     : "rsi", "memory", "cc");
    printf("changed %lx %lx %lx %lx %lx %lx\n", flags & 0x8d5, b, area[1], area[2], area[3], area[4]);
    uint64_t low = area[8], high = area[9];
    unsigned char same;
    __asm__ volatile("push %%rbx\n mov $111, %%ebx\n lock cmpxchg16b %%gs:64\n sete %0\n pop %%rbx"
                     : "=q"(same), "+a"(low), "+d"(high)
                     : "c"(222ul)
                     : "memory", "cc");
    printf("exchanged %d %lu %lu\n", same, area[8], area[9]);
    __asm__ volatile(
        "pushq %%gs:72\n popq %%gs:80\n addr32 mov %%gs:-8(%%eax), %0\n nopl %%gs:(%%rax)\n lea %%gs:5(%%rax), %1"
        : "=&r"(a), "=&r"(b)
        : "a"(0x100000008ul)
        : "memory");
    printf("pushed %lu, short address %lx, lea %lx\n", area[10], a, b);
    __asm__ volatile("mov $7, %%eax\n mulq %%gs:8\n shll $3, %%gs:4\n bsf %%gs:16, %%rcx\n"
                     : "=a"(a), "=d"(b), "=c"(c)
                     :
                     : "memory", "cc");
    printf("computed %lx %lx %lx, %lx\n", a, b, c, digest());
}

static void vectors(void) {
    uint64_t v[2];
    double d = 2.5;
    __asm__ volatile(
        "movups %%gs:0x40, %%xmm6\n paddq %%gs:(%1), %%xmm6\n movups %%xmm6, %%gs:0x80(%1)\n movups %%xmm6, %0\n"
        "movsd %2, %%xmm1\n cvtsi2sdq %%gs:8, %%xmm2\n addsd %%xmm1, %%xmm2\n movsd %%xmm2, %%gs:0xa0"
        : "=m"(v)
        : "r"(0x20ul), "m"(d)
        : "xmm1", "xmm2", "xmm6", "memory");
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
    __asm__ volatile("sub $128, %%rsp\n call *%%gs:0xf0\n add $128, %%rsp"
                     : "=a"(a)
                     :
                     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    __asm__ volatile(
        "lea 1f(%%rip), %%rax\n mov %%rax, %%gs:0xf8\n mov $8, %%ecx\n jmp *%%gs:0xb8(,%%rcx,8)\n ud2\n 1: mov $5, %k0"
        : "=r"(b)
        :
        : "rax", "rcx", "memory");
    printf("called %ld, jumped %ld\n", a, b);
}

/* ------------------------------------------------------------------------------------------------------------- odd operands */

/* Addresses that no ModRM tells of, or not all of. */
static void hidden(void) {
    static char out[64];
    uint64_t a = 0, b = 0, c = 0, d = 0;
    memcpy(area, "0123456789abcdefghijklmnopqrstuvwxyz", 37);
    __asm__ volatile("rep movsb %%gs:(%%rsi), (%%rdi)"
                     : "=S"(a), "=D"(b), "=c"(c)
                     : "0"(5), "1"(out), "2"(20)
                     : "memory");
    printf("movs %s %lx %lx %lx\n", out, a, b - (uint64_t)out, c);
    __asm__ volatile("std\n lodsw %%gs:(%%rsi), %%ax\n cld" : "=S"(a), "=a"(b) : "0"(10), "1"(0) : "memory");
    printf("lods %lx %lx\n", a, b);
    __asm__ volatile("repe cmpsb (%%rdi), %%gs:(%%rsi)\n pushfq\n pop %3"
                     : "=S"(a), "=D"(b), "=c"(c), "=r"(d)
                     : "0"(5), "1"(out), "2"(30)
                     : "memory", "cc");
    printf("cmps %lx %lx %lx %lx\n", a, b - (uint64_t)out, c, d & 0x8d5);
    __asm__ volatile(".byte 0x65\n xlatb" : "=a"(a) : "0"(0x1203), "b"(7) : "memory");
    __asm__ volatile(".byte 0x65, 0x67\n xlatb" : "=a"(b) : "0"(0x1203), "b"(0xffffffff00000004) : "memory");
    printf("xlat %lx %lx\n", a, b);
    __asm__ volatile("movabs %%gs:8, %%rax\n mov %%rax, %0\n movabs %%gs:3, %%al\n mov %%rax, %1\n movabs %%ax, %%gs:1"
                     : "=m"(a), "=m"(b)
                     :
                     : "rax", "memory");
    printf("movabs %lx %lx %lx\n", a, b, area[0]);
    __asm__ volatile(
        "lea -128(%%rsp), %%rsp\n push $0x55\n mov %%rsp, %%rax\n neg %%rax\n popq %%gs:16(%%rsp,%%rax)\n" /* to 24 */
        "push $0x66\n popw %%gs:0x2e(%%rsp,%%rax)\n lea 134(%%rsp), %%rsp"                                 /* to 0x30 */
        :
        :
        : "rax", "memory", "cc");
    printf("pop %lx %lx\n", area[3], area[6]);
    __asm__ volatile(".byte 0x64\n mov %%gs:8, %0\n .byte 0x65\n mov %%fs:8, %%rcx\n mov %%fs:8, %1\n sub %%rcx, %1"
                     : "=r"(a), "=r"(b)
                     :
                     : "rcx", "memory", "cc");
    printf("both %lx %lx\n", a, b);
    __asm__ volatile("pcmpeqd %%xmm6, %%xmm6\n psrldq $6, %%xmm6\n movups %%gs:0, %%xmm7\n maskmovdqu %%xmm6, %%xmm7"
                     :
                     : "D"(out + 20)
                     : "memory");
    __asm__ volatile(".byte 0x65\n maskmovdqu %%xmm6, %%xmm7" : : "D"(0x100) : "memory");
    printf("maskmov %.30s %lx %lx\n", out + 20, area[32], area[33]);
}

__attribute__((target("avx2"))) static int gather(void) {
    uint64_t sum = 0;
    __asm__ volatile(
        "vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n vmovdqu %1, %%ymm2\n mov $4, %%ecx\n vpgatherdd %%ymm1, "
        "%%gs:8(%%rcx,%%ymm2,4), %%ymm3\n"
        "vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n mov $4, %%r13d\n vpgatherdd %%ymm1, %%gs:(%%r13,%%ymm2,4), %%ymm4\n"
        "vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n vpgatherdd %%ymm1, %%gs:16(,%%ymm2,4), %%ymm5\n"
        "vpaddd %%ymm3, %%ymm4, %%ymm4\n vpaddd %%ymm5, %%ymm4, %%ymm4\n vextracti128 $1, %%ymm4, %%xmm5\n vpxor "
        "%%xmm5, %%xmm4, %%xmm4\n vmovq %%xmm4, %0\n vzeroupper"
        : "=r"(sum)
        : "m"(*(const int(*)[8])(const int[8]){0, 3, 1, 7, 2, 2, 9, 5})
        : "rcx", "r13", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5");
    const int index[8] = {0, 3, 1, 7, 2, 2, 9, 5}, *words = (const int *)area;
    uint32_t lane[8];
    for (int i = 0; i < 8; i++)
        lane[i] = (uint32_t)words[3 + index[i]] + (uint32_t)words[1 + index[i]] + (uint32_t)words[4 + index[i]];
    return sum == ((lane[0] ^ lane[4]) | (uint64_t)(lane[1] ^ lane[5]) << 32);
}

__attribute__((target("avx512f,avx512vl,avx512bw"))) static int units(void) {
    static const int index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint64_t a, b, k;
    memset(area + 32, 0, 128);
    __asm__ volatile("mov $0, %%ecx\n vmovdqu64 %%gs:0x40(%%rcx), %%zmm16\n vmovdqu64 %%zmm16, "
                     "%%gs:0x100(%%rcx,%%rcx,2)\n vpaddq %%gs:8(%%rcx)%{1to8%}, %%zmm16, %%zmm17\n"
                     "vmovq %%xmm17, %0\n kmovq %%gs:0x10(%%rcx,%%rcx), %%k1\n kmovq %%k1, %2\n"
                     "mov $-1, %%eax\n kmovd %%eax, %%k2\n vmovdqu32 %3, %%zmm18\n mov $0x140, %%r13d\n vpscatterdd "
                     "%%zmm18, %%gs:(%%r13,%%zmm18,4)%{%%k2%}\n mov %%gs:0x17c, %k1\n vzeroupper"
                     : "=r"(a), "=r"(b), "=r"(k)
                     : "m"(index)
                     : "rax", "rcx", "r13", "xmm16", "xmm17", "xmm18", "memory");
    return a == area[8] + area[1] && !memcmp(area + 32, area + 8, 64) && b == 15 && k == area[2];
}

/* Addresses of 32 bits: cut off before the segment's base is added, but behind everything else. */
static void narrow(void) {
    uint64_t a, b, c;
    memcpy(area, "0123456789abcdefghijklmnopqrstuvwxyz", 37);
    __asm__ volatile(".byte 0x67\n lodsw %%gs:(%%rsi), %%ax" : "=S"(a), "=a"(b) : "0"(0x700000005), "1"(0) : "memory");
    printf("narrow lods %lx %lx\n", a, b);
    __asm__ volatile(
        "push %%rbp\n mov $0x123, %%ebp\n .byte 0x67\n rep lodsb %%gs:(%%rsi), %%al\n mov %%rbp, %3\n pop %%rbp"
        : "=S"(a), "=a"(b), "=c"(c), "=r"(area[40])
        : "0"(0x700000005), "1"(0), "2"(0x500000003)
        : "memory");
    printf("narrow rep lods %lx %lx %lx, rbp %lx\n", a, b, c, area[40]);
    char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    __asm__ volatile(".byte 0x67\n rep movsb %%gs:(%%rsi), (%%rdi)"
                     : "=S"(a), "=D"(b), "=c"(c)
                     : "0"(0x700000009), "1"(low + (1ul << 40)), "2"(7)
                     : "memory");
    printf("narrow movs %s %lx %lx %lx\n", low, a, b - (uint64_t)low, c);
    __asm__ volatile(".byte 0x67\n repe cmpsb (%%rdi), %%gs:(%%rsi)\n setb %%al"
                     : "=S"(a), "=c"(c), "=a"(b)
                     : "0"(8), "D"(low), "1"(20), "2"(0)
                     : "memory", "cc");
    printf("narrow cmps %lx %lx %lx\n", a, c, b);
    munmap(low, 4096);
}

__attribute__((target("avx2"))) static int narrow_gather(void) {
    uint64_t sum = 0;
    __asm__ volatile("vpcmpeqd %%xmm1, %%xmm1, %%xmm1\n vmovdqu %1, %%xmm2\n mov $-8, %%ecx\n .byte 0x67\n vpgatherdd "
                     "%%xmm1, %%gs:8(%%rcx,%%xmm2,4), %%xmm3\n"
                     "vpshufd $0xee, %%xmm3, %%xmm4\n vpxor %%xmm4, %%xmm3, %%xmm3\n vmovq %%xmm3, %0\n vzeroupper"
                     : "=r"(sum)
                     : "m"(*(const int(*)[4])(const int[4]){0, 3, 1, 7})
                     : "rcx", "xmm1", "xmm2", "xmm3", "xmm4");
    const uint32_t *words = (const uint32_t *)area;
    return sum == ((words[0] ^ words[1]) | (uint64_t)(words[3] ^ words[7]) << 32);
}

__attribute__((target("avx512f,avx512vl"))) static int narrow_units(void) {
    uint64_t a;
    __asm__ volatile(
        "mov $-64, %%ecx\n .byte 0x67\n vmovdqu64 %%gs:0x40(%%rcx), %%zmm16\n vmovq %%xmm16, %0\n vzeroupper"
        : "=r"(a)
        :
        : "rcx", "xmm16");
    return a == area[0];
}

static void wide(void) {
    printf("narrow gather %d\n", !__builtin_cpu_supports("avx2") || narrow_gather());
    printf("narrow units %d\n", !__builtin_cpu_supports("avx512vl") || narrow_units());
    printf("gather %d\n", !__builtin_cpu_supports("avx2") || gather());
    printf("units %d\n", !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") || units());
}

/* --------------------------------------------------------------------------------------------------------------- faults */

static char *pair;

static void string_fault(int sig, siginfo_t *info, void *context) {
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("fault %d there %d, registers %llx %llx %llx\n", sig, (char *)info->si_addr == pair + 4096,
           (long long)g[REG_RSI], (long long)g[REG_RBP], (long long)g[REG_RCX]);
    mprotect(pair, 8192, PROT_READ | PROT_WRITE);
}

/* A string that goes on in a page that is not there: the handler finds how far it has come. */
static void strings_fault(void) {
    struct sigaction action = {.sa_sigaction = string_fault, .sa_flags = SA_SIGINFO};
    static char out[64];
    uint64_t rsi, rcx, rdi;
    pair = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(pair + 4086, "0123456789abcdef");
    mprotect(pair + 4096, 4096, PROT_NONE);
    sigaction(SIGSEGV, &action, NULL);
    set_base(pair + 4000);
    __asm__ volatile("push %%rbp\n mov $0x77, %%ebp\n rep movsb %%gs:(%%rsi), (%%rdi)\n pop %%rbp"
                     : "=S"(rsi), "=c"(rcx), "=D"(rdi)
                     : "0"(86), "1"(16), "2"(out)
                     : "memory");
    printf("then %s %lx %lx\n", out, rsi, rcx);
    mprotect(pair + 4096, 4096, PROT_NONE);
    __asm__ volatile("push %%rbp\n mov $0x77, %%ebp\n .byte 0x67\n rep lodsb %%gs:(%%rsi), %%al\n pop %%rbp"
                     : "=S"(rsi), "=c"(rcx), "=a"(rdi)
                     : "0"(86), "1"(16), "2"(0)
                     : "memory");
    printf("then %lx %lx %lx\n", rsi, rcx, rdi);
    set_base(area);
}

static char *hole;

static void repair(int sig, siginfo_t *info, void *context) {
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("fault %d there %d, registers %llx %llx %llx %llx\n", sig, (char *)info->si_addr == hole + 0x18,
           (long long)g[REG_RSI], (long long)g[REG_RDI], (long long)g[REG_RBX], (long long)g[REG_RBP]);
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
                     : "=S"(rsi), "=D"(rdi), "=b"(rbx)
                     :
                     : "memory");
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
    hidden();
    narrow();
    wide();
    strings_fault();
    return 0;
}
