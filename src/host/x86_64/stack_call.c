/* stack_call.c: calls of x86-64 functions on another stack (HostStackCall). */
#include "host/x86_64/parts.h"

static const char *const ints[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                   "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const vectors[] = {"xmm0", "xmm1", "xmm2",  "xmm3",  "xmm4",  "xmm5",  "xmm6",  "xmm7",
                                      "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"};

#define SWITCH "movq %rsp, %r12\n\tleaq 8(%r14), %rsp\n\tcall *%r13\n\tmovq %r12, %rsp"

/* LLVM does not see the call in here, before which it would clear the upper halves of vector registers: with something in them, callees of the older
 * instructions are slow. */
static const char *text(void) {
    return __builtin_cpu_supports("avx") ? "vzeroupper\n\t" SWITCH : SWITCH;
}

const HostStackCall x86_64_stack_call = {
    .ints = ints,
    .vectors = vectors,
    .function = "r13",
    .stack = "r14",
    .clobbers = "~{r12},~{memory},~{flags},~{dirflag},~{fpsr}",
    .text = text,
    .copy = {"rep movsq", "={rdi},={rsi},={rcx},0,1,2,~{memory}"},
};
