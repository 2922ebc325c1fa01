/* effects.c: instructions whose effects are easily overlooked, in functions with a known parameter: what they move, keep or leave out
 * must be as in the original. Each function is specialised for its second parameter, and compared with itself. */
#include <binopt.h>
#include <stdbool.h>
#include <stdio.h>

enum { K = 5 };

__attribute__((used)) static char text[] = "a text that is read by string instructions";

/* Where scas stops: it moves rdi, which is known before it. */
__attribute__((naked)) static long scanned(long x, long k) {
    (void)x, (void)k;
    __asm__("lea text(%rip), %rdi\n\t"
            "mov %rsi, %rcx\n\t"
            "xor %eax, %eax\n\t"
            "repne scasb\n\t"
            "mov %rdi, %rax\n\t"
            "ret");
}

/* The same of cmps, which moves rsi, too. */
__attribute__((naked)) static long compared(long x, long k) {
    (void)x, (void)k;
    __asm__("lea text(%rip), %rdi\n\t"
            "mov %rsi, %rcx\n\t"
            "mov %rdi, %rsi\n\t"
            "repe cmpsb\n\t"
            "lea (%rdi,%rsi), %rax\n\t"
            "ret");
}

/* bsf of 0 keeps what was in the register. */
__attribute__((naked)) static long lowest_bit(long x, long k) {
    (void)x, (void)k;
    __asm__("lea 60(%rsi), %rax\n\t"
            "bsf %rdi, %rax\n\t"
            "ret");
}

/* A shift by 64, which comes to 0, keeps the flags: the carry of the subtraction. */
__attribute__((naked)) static long carried(long x, long k) {
    (void)x, (void)k;
    __asm__("cmp %rsi, %rdi\n\t"
            "mov %rsi, %rax\n\t"
            ".byte 0x48, 0xc1, 0xe0, 0x40\n\t" /* shl $64, %rax */
            "sbb %rax, %rax\n\t"
            "ret");
}

/* A masked store leaves alone what was stored before, where the mask has nothing. */
__attribute__((naked)) static long stored(long x, long k) {
    (void)x, (void)k;
    __asm__("mov %rdi, -24(%rsp)\n\t"
            "mov %rdi, -16(%rsp)\n\t"
            "mov $0x80000000, %eax\n\t"
            "vmovd %eax, %xmm0\n\t"
            "vmovq %rsi, %xmm1\n\t"
            "vmaskmovps %xmm1, %xmm0, -24(%rsp)\n\t"
            "mov -24(%rsp), %rax\n\t"
            "add -16(%rsp), %rax\n\t"
            "ret");
}

static bool has_avx(void) {
    return __builtin_cpu_supports("avx");
}

static bool always(void) {
    return true;
}

static const struct {
    const char *name;
    long (*function)(long x, long k);
    bool (*works)(void);
} subjects[] = {
    {"scanned", scanned, always}, {"compared", compared, always}, {"lowest_bit", lowest_bit, always},
    {"carried", carried, always}, {"stored", stored, has_avx},
};

int main(void) {
    BinoptHandle handle = binopt_init();
    int failures = 0, specialised = 0;
    for (unsigned i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
        if (!subjects[i].works()) {
            printf("skip %s: this CPU does not have its instructions\n", subjects[i].name);
            continue;
        }
        BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)subjects[i].function);
        binopt_cfg_type(cfg, 2, BINOPT_TY_INT64, BINOPT_TY_INT64, BINOPT_TY_INT64);
        binopt_cfg_set_parami(cfg, 1, K);
        long (*made)(long, long) = (long (*)(long, long))binopt_spec_create(cfg);
        specialised += made != subjects[i].function;
        for (long x = -40; x < 40; x++) {
            long want = subjects[i].function(x, K), got = made(x, K);
            failures += want != got;
            if (want != got) {
                printf("%s(%ld): %#lx instead of %#lx\n", subjects[i].name, x, (unsigned long)got, (unsigned long)want);
                break;
            }
        }
    }
    binopt_fini(handle);
    printf("%s: %d specialised, %d wrong\n", binopt_driver(), specialised, failures);
    if (!specialised)
        printf("FAIL: nothing was specialised\n");
    return failures || !specialised;
}
