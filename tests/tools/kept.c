/* kept.c: kept: a guest that looks after every instruction whether all its registers are what they were: general ones, flags with that of direction, the
 * words below the stack pointer, vectors, x87, and the modes of both; while signals arrive all the time. The handler of a fault sees all registers as they were, too, and
 * flags go back to who has called. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { RSP = 4, BELOW = 16, STATUS = 0x8d5, DIRECTION = 0x400, ROUNDS = 1000, SIGNALS = 50 };

typedef struct Values {
    uint64_t gp[16], flags;
} Values;

__attribute__((visibility("hidden"))) Values values_in, values_out;
__attribute__((visibility("hidden"))) uint64_t own_sp;
static uint64_t stack[4 * BELOW];
static volatile sig_atomic_t signals;
void body(void);

/* Instructions that change nothing, with all kinds of operands, between which a tool's functions are called. */
__asm__(".text\n"
        "body:\n"
        "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, own_sp(%rip)\n"
        "pushq values_in+128(%rip)\n popfq\n"
        "mov values_in(%rip), %rax\n mov values_in+8(%rip), %rcx\n mov values_in+16(%rip), %rdx\n"
        "mov values_in+24(%rip), %rbx\n mov values_in+40(%rip), %rbp\n mov values_in+48(%rip), %rsi\n"
        "mov values_in+56(%rip), %rdi\n mov values_in+64(%rip), %r8\n mov values_in+72(%rip), %r9\n"
        "mov values_in+80(%rip), %r10\n mov values_in+88(%rip), %r11\n mov values_in+96(%rip), %r12\n"
        "mov values_in+104(%rip), %r13\n mov values_in+112(%rip), %r14\n mov values_in+120(%rip), %r15\n"
        "mov values_in+32(%rip), %rsp\n"
        /* Registers that are dead for a while. */
        "mov %rax, -64(%rsp)\n mov %r11, -72(%rsp)\n"
        "mov -64(%rsp), %rax\n lea (%rax), %r11\n mov -72(%rsp), %r11\n"
        "mov $7, %eax\n lea 1(%rax,%rax,2), %eax\n mov $9, %r11d\n mov %r11, %rax\n"
        "mov -64(%rsp), %rax\n mov -72(%rsp), %r11\n"
        /* Jumps by flags, and what only reads them. */
        "jc 1f\n nop\n1: jo 2f\n nop\n2: jp 3f\n nop\n3: jz 4f\n nop\n4: js 5f\n nop\n5:\n"
        "cmovc %rax, %rax\n cmovo %r9, %r9\n xchg %rdi, %rsi\n xchg %rsi, %rdi\n bswap %r10\n bswap %r10\n"
        "not %r15\n not %r15\n mov %fs:0, %rbx\n mov values_in+24(%rip), %rbx\n"
        "movaps %xmm3, %xmm3\n fld1\n fstp %st(0)\n"
        "mov %rax, values_out(%rip)\n mov %rcx, values_out+8(%rip)\n mov %rdx, values_out+16(%rip)\n"
        "mov %rbx, values_out+24(%rip)\n mov %rsp, values_out+32(%rip)\n mov %rbp, values_out+40(%rip)\n"
        "mov %rsi, values_out+48(%rip)\n mov %rdi, values_out+56(%rip)\n mov %r8, values_out+64(%rip)\n"
        "mov %r9, values_out+72(%rip)\n mov %r10, values_out+80(%rip)\n mov %r11, values_out+88(%rip)\n"
        "mov %r12, values_out+96(%rip)\n mov %r13, values_out+104(%rip)\n mov %r14, values_out+112(%rip)\n"
        "mov %r15, values_out+120(%rip)\n"
        "mov own_sp(%rip), %rsp\n"
        "pushfq\n popq values_out+128(%rip)\n cld\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");

static void note(int sig) {
    (void)sig;
    signals++;
}

static uint64_t random_word(void) {
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* The words below rsp, but for the two that the body writes to. */
static void fill_below(uint64_t *sp) {
    for (int i = 1; i <= BELOW; i++)
        sp[-i] = (uint64_t)i * 0x0101010101010101;
}

static int check_below(const uint64_t *sp) {
    int bad = 0;
    for (int i = 1; i <= BELOW; i++)
        bad += i != 8 && i != 9 && sp[-i] != (uint64_t)i * 0x0101010101010101;
    return bad;
}

static int check(const char *what, uint64_t got, uint64_t expected, int round) {
    if (got == expected)
        return 0;
    printf("round %d: %s is %lx instead of %lx\n", round, what, got, expected);
    return 1;
}

static int one_round(int round) {
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    uint64_t *sp = &stack[2 * BELOW];
    int bad = 0;
    for (int i = 0; i < 16; i++)
        values_in.gp[i] = random_word();
    values_in.gp[RSP] = (uint64_t)sp;
    values_in.flags = (random_word() & STATUS) | (round % 3 ? 0 : DIRECTION) | 2;
    fill_below(sp);
    body();
    for (int i = 0; i < 16; i++)
        bad += check(names[i], values_out.gp[i], values_in.gp[i], round);
    bad += check("the flags", values_out.flags & (STATUS | DIRECTION), values_in.flags & (STATUS | DIRECTION), round);
    return bad + check("below rsp", (uint64_t)check_below(sp), 0, round);
}

/* Modes that are not the usual ones, and values that stay in registers meanwhile. */
static int with_vectors(int round) {
    uint8_t before[256], after[256], mode[512] __attribute__((aligned(16))),
        mode_after[512] __attribute__((aligned(16)));
    uint32_t mxcsr = 0x1f80 | (uint32_t)round % 4 << 13, usual = 0x1f80;
    uint16_t cw = (uint16_t)(0x37f | round % 4 << 10), usual_cw = 0x37f;
    for (unsigned i = 0; i < sizeof(before); i++)
        before[i] = (uint8_t)random_word();
    __asm__ volatile(
        "ldmxcsr %2\n fldcw %3\n fldpi\n"
        "movups (%0), %%xmm0\n movups 16(%0), %%xmm1\n movups 32(%0), %%xmm2\n movups 48(%0), %%xmm3\n"
        "movups 64(%0), %%xmm4\n movups 80(%0), %%xmm5\n movups 96(%0), %%xmm6\n movups 112(%0), %%xmm7\n"
        "movups 128(%0), %%xmm8\n movups 144(%0), %%xmm9\n movups 160(%0), %%xmm10\n movups 176(%0), %%xmm11\n"
        "movups 192(%0), %%xmm12\n movups 208(%0), %%xmm13\n movups 224(%0), %%xmm14\n movups 240(%0), %%xmm15\n"
        "fxsave (%4)\n nop\n lea 1(%%rax), %%rax\n add $3, %%rax\n mov (%0), %%cl\n fxsave (%5)\n"
        "movups %%xmm0, (%1)\n movups %%xmm1, 16(%1)\n movups %%xmm2, 32(%1)\n movups %%xmm3, 48(%1)\n"
        "movups %%xmm4, 64(%1)\n movups %%xmm5, 80(%1)\n movups %%xmm6, 96(%1)\n movups %%xmm7, 112(%1)\n"
        "movups %%xmm8, 128(%1)\n movups %%xmm9, 144(%1)\n movups %%xmm10, 160(%1)\n movups %%xmm11, 176(%1)\n"
        "movups %%xmm12, 192(%1)\n movups %%xmm13, 208(%1)\n movups %%xmm14, 224(%1)\n movups %%xmm15, 240(%1)\n"
        "fstp %%st(0)\n fldcw %7\n ldmxcsr %6\n"
        :
        : "r"(before), "r"(after), "m"(mxcsr), "m"(cw), "r"(mode), "r"(mode_after), "m"(usual), "m"(usual_cw)
        : "rax", "rcx", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
          "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    int bad = check("a vector", (uint64_t)memcmp(before, after, sizeof(before)), 0, round);
    return bad + check("x87 or a mode", (uint64_t)memcmp(mode, mode_after, 416), 0, round);
}

/* Loads into registers that the load itself overwrites, from where nothing is. */
__attribute__((visibility("hidden"))) uint64_t fault_gp[16];
void load_nothing(void);
extern const char bad_load[], good_load[];
__asm__(".text\n"
        "load_nothing:\n"
        "mov $0x111, %eax\n mov $0x222, %edx\n mov $0x333, %ecx\n mov $8, %edi\n"
        "mov (%rdi), %rdx\n"
        "bad_load: mov (%rdi), %rax\n"
        "good_load: ret\n");

/* All that is bad is left out. */
static void skip_load(int sig, siginfo_t *info, void *context) {
    greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)sig, (void)info;
    bool second = gregs[REG_RIP] == (greg_t)bad_load;
    fault_gp[second ? 0 : 1] = (uint64_t)gregs[second ? REG_RAX : REG_RDX];
    fault_gp[second ? 2 : 3] = (uint64_t)gregs[REG_RCX];
    gregs[REG_RIP] = (greg_t)(second ? good_load : bad_load);
}

static int with_faults(int round) {
    memset(fault_gp, 0, sizeof(fault_gp));
    load_nothing();
    int bad = check("rdx at a fault", fault_gp[1], 0x222, round) + check("rax at a fault", fault_gp[0], 0x111, round);
    return bad + check("rcx at a fault", fault_gp[2] + fault_gp[3], 0x666, round);
}

/* A function that returns a bit as the carry. At first nobody wants to know it. */
uint64_t ask_carry(uint64_t value), ask_nothing(uint64_t value);
__asm__(".text\n"
        "as_carry: mov %rdi, %rax\n shr $1, %rax\n mov (%rsp), %rcx\n ret\n"
        "ask_nothing: call as_carry\n xor %eax, %eax\n ret\n"
        "ask_carry: call as_carry\n setc %al\n movzbl %al, %eax\n ret\n");

int main(void) {
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    static char other_stack[65536];
    const stack_t other = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
    const struct sigaction action = {.sa_handler = note, .sa_flags = SA_ONSTACK};
    int bad = 0, round = 0;
    sigaltstack(&other, NULL);
    const struct sigaction on_fault = {.sa_sigaction = skip_load, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGSEGV, &on_fault, NULL);
    bad += check("nothing", ask_nothing(1), 0, 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; !bad && (round < ROUNDS || signals < SIGNALS); round++)
        bad += one_round(round) + with_vectors(round) + with_faults(round) +
               check("the carry", ask_carry((uint64_t)round), (uint64_t)round & 1, round);
    setitimer(ITIMER_REAL, &never, NULL);
    printf(bad ? "not kept\n" : "kept\n");
    return bad != 0;
}
