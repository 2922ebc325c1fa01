/* raise.c: where raised functions of x86-64 programs and native code call each other (HostRaise).
 *
 * Raised functions have two stacks. Their own frames are on one of Lathe's, the host's stack; the program's frames are where the
 * program's stack pointer leads. Native code runs on the program's stack, where it finds its arguments and puts the return
 * address, and native code that calls a raised function does so there, too. A thread has three variables: TOP, the top of its host
 * stack while raised code calls native code, 1 while raised code runs, and 0 before; and where that stack begins and ends (LOW, HIGH). */
#include <elf.h>
#include <stdio.h>
#include <ucontext.h>

#include "host/x86_64/parts.h"
#include "isa/x86_64/facts.h"

enum { STACK_BYTES = 64 << 20, GUARD_BYTES = 4096, SIGNAL_GAP = 1 << 20 };
/* Where a signal handler, when it is entered, finds the stack pointer of what was interrupted, behind its return address. */
#define FRAME_RSP (8 + offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]))
enum { STATE_BYTES = (sizeof(LatheX86Cpu) + 63) / 64 * 64, FRAME_BYTES = STATE_BYTES + 64 };

static const char names[] =
    ".set TOP, %ld\n.set LOW, %ld\n.set HIGH, %ld\n"
    ".set PC, %zu\n.set GP, %zu\n.set FLAGS, %zu\n.set XMM, %zu\n.set TRAP, %zu\n"
    ".set MXCSR, %zu\n.set FPU_CW, %zu\n.set FPU_SW, %zu\n.set FPU_TOP, %zu\n.set FPU_TAG, %zu\n"
    ".set ST, %zu\n.set FRAME_RSP, %zu\n.set FRAME, %d\n.set KEEP, %d\n.set STACK, %d\n.set GUARD, %d\n.set GAP, "
    "%d\n.set IMAGE, %lu\n.set "
    "X87, %d\n.set BASE, %lu\n.set UNWINDS, %d\n.set FEATURES, %d\n.set LIBRARY, %d\n";

/* For unwind tables: what is at a distance from the stack pointer, as a number of three bytes; the function's caller has its stack pointer and
 * return address, and r13, where it was called with. */
#define AT_STACK(distance)                                                                                             \
    "0x77, ((" distance ") & 0x7f) | 0x80, (((" distance ") >> 7) & 0x7f) | 0x80, ((" distance ") >> 14) & 0x7f"
#define CALLER_ELSEWHERE                                                                                               \
    "\t.cfi_escape 0x0f, 7, " AT_STACK("KEEP+8") ", 0x06, 0x23, 8\n"                                                   \
                                                 "\t.cfi_escape 0x10, 16, 4, " AT_STACK(                               \
                                                     "KEEP+16") "\n"                                                   \
                                                                "\t.cfi_escape 0x10, 13, 4, " AT_STACK("KEEP+24") "\n"

/* Native code has called a function of the program, whose bridge is in r11. If the stack pointer is within the host's stack, raised
 * code was interrupted by a signal: the handler's own frames go below it, and those of raised functions at some distance. If it is
 * elsewhere while raised code runs (TOP is 1), the handler has a stack of its own (sigaltstack), and the kernel's frame, which is above the return address,
 * has the host's stack pointer. As soon as
 * the stack pointer is in the host's stack, signals keep off what is above it. The return address is put back in the end: a function
 * that ends with a jump to native code has had another one there. The bridge has the guest's stack pointer in r10 and the state in
 * r13; arguments and results are in their registers all the time. `rest`: the bridge finds rax and r10 in the state.
 *
 * An exception that goes through here does what a return does (9), and then goes on as if native code had called _Unwind_Resume() itself. */
static const char enter[] = "\n\t.if UNWINDS\n"
                            "\t.data\n"
                            "\t.p2align 3\n"
                            "lathe_raise_personality:\t.quad lathe_import___gxx_personality_v0\n"
                            "lathe_raise_resume:\t.quad lathe_import__Unwind_Resume\n"
                            "\t.endif\n"
                            "\t.text\n"
                            "\t.macro LATHE_ENTER name, rest, first\n"
                            "\t.p2align 4\n\t.globl \\name\n\t.hidden \\name\n"
                            "\\name:\n"
                            "\t.cfi_startproc\n"
                            "\t.if UNWINDS\n"
                            "\t.cfi_personality 0x9b, lathe_raise_personality\n"
                            "\t.cfi_lsda 0x1b, .L\\name\\()_table\n"
                            "\t.endif\n"
                            "\t.if \\rest\n"
                            "\tmovq %rax, -24(%rsp)\n"
                            "\tmovq %r10, -32(%rsp)\n"
                            "\t.endif\n"
                            "\tmovq %fs:TOP, %rax\n"
                            "\ttestq %rax, %rax\n"
                            "\tje 3f\n"
                            "\tcmpq %fs:LOW, %rsp\n"
                            "\tjb 4f\n"
                            "\tcmpq %fs:HIGH, %rsp\n"
                            "\tjae 4f\n"
                            "\tleaq -GAP(%rsp), %rax\n"
                            "1:\tmovq %rsp, %r10\n"
                            "\tandq $-64, %rax\n"
                            "\tleaq -FRAME(%rax), %rsp\n"
                            "\tmovq %fs:TOP, %rax\n"
                            "\tmovq $1, %fs:TOP\n"
                            "8:\tmovq %rax, KEEP(%rsp)\n"
                            "\tmovq %r10, KEEP+8(%rsp)\n"
                            "\tmovq (%r10), %rax\n"
                            "\tmovq %rax, KEEP+16(%rsp)\n"
                            "\tmovq %r13, KEEP+24(%rsp)\n"
                            "\tmovq %rsp, %r13\n"
                            "\t.if \\rest\n"
                            "\tmovq -24(%r10), %rax\n"
                            "\tmovq %rax, GP(%r13)\n"
                            "\tmovq -32(%r10), %rax\n"
                            "\tmovq %rax, GP+80(%r13)\n"
                            "\t.endif\n"
                            "\t.if X87\n"
                            "\tmovl $0x1f80, MXCSR(%r13)\n"
                            "\tmovw $0x37f, FPU_CW(%r13)\n"
                            "\tmovw $0, FPU_SW(%r13)\n"
                            "\tmovb $0, FPU_TOP(%r13)\n"
                            "\tmovb $0, FPU_TAG(%r13)\n"
                            "\t.endif\n" CALLER_ELSEWHERE "\t.if \\first\n"
                            "\t.cfi_undefined 16\n"
                            "\t.endif\n"
                            "6:\tcall *%r11\n"
                            "7:\n"
                            "\t.if X87\n"
                            "\tcmpb $0, FPU_TAG(%r13)\n"
                            "\tjne 5f\n"
                            "\t.endif\n"
                            "2:\tmovq KEEP(%rsp), %rcx\n"
                            "\tmovq KEEP+16(%rsp), %rdi\n"
                            "\tmovq KEEP+8(%rsp), %rsi\n"
                            "\tmovq KEEP+24(%rsp), %r13\n"
                            "\tmovq %rcx, %fs:TOP\n"
                            "\tmovq %rdi, (%rsi)\n"
                            "\ttestq %rcx, %rcx\n"
                            "\tmovq %rsi, %rsp\n"
                            "\tje lathe_raise_give_stack\n"
                            "\tret\n"
                            "3:\tcall lathe_raise_get_stack\n"
                            "\tmovq %rsp, %r10\n"
                            "\tleaq -FRAME(%rax), %rsp\n"
                            "\tmovq %rax, %fs:HIGH\n" /* a handler of a signal may have had a stack meanwhile */
                            "\tsubq $STACK, %rax\n"
                            "\tmovq %rax, %fs:LOW\n"
                            "\tmovq %fs:TOP, %rax\n"
                            "\tmovq $1, %fs:TOP\n"
                            "\tjmp 8b\n"
                            "4:\tcmpq $1, %rax\n"
                            "\tjne 1b\n"
                            "\tmovq FRAME_RSP(%rsp), %rax\n"
                            "\tcmpq %fs:LOW, %rax\n"
                            "\tjb 10f\n"
                            "\tcmpq %fs:HIGH, %rax\n"
                            "\tjb 1b\n"
                            "10:\tud2\n"
                            "\t.if X87\n"
                            "5:\tmovzbl FPU_TOP(%r13), %ecx\n"
                            "\tandl $7, %ecx\n"
                            "\tshll $4, %ecx\n"
                            "\tfldt ST(%r13,%rcx)\n"
                            "\tjmp 2b\n"
                            "\t.endif\n"
                            "\t.if UNWINDS\n"
                            "9:\tmovq KEEP(%rsp), %rcx\n"
                            "\tmovq KEEP+16(%rsp), %rdi\n"
                            "\tmovq KEEP+8(%rsp), %rsi\n"
                            "\tmovq KEEP+24(%rsp), %r13\n"
                            "\tmovq %rcx, %fs:TOP\n"
                            "\tmovq %rdi, (%rsi)\n"
                            "\tmovq %rsi, %rsp\n"
                            "\ttestq %rcx, %rcx\n"
                            "\tjne 1f\n"
                            "\tcall lathe_raise_give_stack\n"
                            "1:\tmovq %rax, %rdi\n"
                            "\tjmp *lathe_raise_resume(%rip)\n"
                            "\t.endif\n"
                            "\t.cfi_endproc\n"
                            "\t.if UNWINDS\n"
                            "\t.section .gcc_except_table,\"a\",@progbits\n"
                            ".L\\name\\()_table:\t.byte 0xff, 0xff, 1\n"
                            "\t.uleb128 4f-3f\n"
                            "3:\t.uleb128 6b-\\name\n"
                            "\t.uleb128 7b-6b\n"
                            "\t.uleb128 9b-\\name\n"
                            "\t.uleb128 0\n"
                            "4:\n"
                            "\t.text\n"
                            "\t.endif\n"
                            "\t.endm\n"
                            "\tLATHE_ENTER lathe_raise_enter, 0, 0\n"
                            "\tLATHE_ENTER lathe_raise_enter_rest, 1, 0\n"
                            "\tLATHE_ENTER lathe_raise_enter_first, 1, 1\n";

/* The first raised function of a thread, or the first since the last one has returned: it gets a stack, whose end is in rax, and gives it
 * back. A library, which is entered often, keeps that of the process's first thread: then TOP is the stack's end. Nothing else is changed. The function that was called may have put two registers below the stack pointer. */
static const char stacks[] = "lathe_raise_get_stack:\n"
                             "\tleaq -32(%rsp), %rsp\n"
                             "\tpushq %rdi\n"
                             "\tpushq %rsi\n"
                             "\tpushq %rdx\n"
                             "\tpushq %rcx\n"
                             "\tpushq %r8\n"
                             "\tpushq %r9\n"
                             "\tpushq %r10\n"
                             "\tpushq %r11\n"
                             "\tmovl $9, %eax\n" /* mmap: private, anonymous, without reserve */
                             "\txorl %edi, %edi\n"
                             "\tmovl $STACK, %esi\n"
                             "\tmovl $3, %edx\n"
                             "\tmovl $0x4022, %r10d\n"
                             "\tmovq $-1, %r8\n"
                             "\txorl %r9d, %r9d\n"
                             "\tsyscall\n"
                             "\tcmpq $-4096, %rax\n"
                             "\tja 9f\n"
                             "\tmovq %rax, %rdi\n"
                             "\tleaq STACK(%rax), %rax\n"
                             "\tmovq %rax, %fs:HIGH\n"
                             "\tmovq %rdi, %fs:LOW\n"
                             "\tmovl $10, %eax\n" /* mprotect: the lowest page is a guard */
                             "\tmovl $GUARD, %esi\n"
                             "\txorl %edx, %edx\n"
                             "\tsyscall\n"
                             "\t.if LIBRARY\n"
                             "\tmovl $39, %eax\n" /* getpid */
                             "\tsyscall\n"
                             "\tmovl %eax, %edi\n"
                             "\tmovl $186, %eax\n" /* gettid */
                             "\tsyscall\n"
                             "\tcmpl %eax, %edi\n"
                             "\tjne 1f\n"
                             "\tmovq %fs:HIGH, %rax\n"
                             "\tmovq %rax, %fs:TOP\n"
                             "1:\n"
                             "\t.endif\n"
                             "\tmovq %fs:HIGH, %rax\n"
                             "\tpopq %r11\n"
                             "\tpopq %r10\n"
                             "\tpopq %r9\n"
                             "\tpopq %r8\n"
                             "\tpopq %rcx\n"
                             "\tpopq %rdx\n"
                             "\tpopq %rsi\n"
                             "\tpopq %rdi\n"
                             "\tleaq 32(%rsp), %rsp\n"
                             "\tret\n"
                             "9:\tud2\n"
                             "lathe_raise_give_stack:\n"
                             "\tpushq %rax\n"
                             "\tpushq %rdx\n"
                             "\tmovq %fs:LOW, %rdi\n"
                             "\tmovq $0, %fs:HIGH\n"
                             "\tmovl $STACK, %esi\n"
                             "\tmovl $11, %eax\n" /* munmap */
                             "\tsyscall\n"
                             "\tpopq %rdx\n"
                             "\tpopq %rax\n"
                             "\tret\n";

/* The bridge of the function at the address in r11, for `find`: it is found by the jump there, and by the entry's own instructions, which begin with a
 * leaq. Functions that were left as they are have none (FALLBACK), but are in a list: lathe_raise_left calls such a one, by the address that is in the state. */
static const char find[] = "\n\t.p2align 4\n\t.globl lathe_raise_find\n\t.hidden lathe_raise_find\n"
                           "lathe_raise_find:\n"
                           "\tcmpb $0xe9, (%r11)\n"
                           "\tjne 5f\n"
                           "\tmovslq 1(%r11), %r10\n"
                           "\tleaq 5(%r11,%r10), %r10\n"
                           "\tcmpw $0x8d4c, (%r10)\n"
                           "\tjne 9f\n"
                           "\tmovslq 3(%r10), %r11\n"
                           "\tleaq 7(%r10,%r11), %r11\n"
                           "\tret\n"
                           "5:\tcmpb $0xeb, (%r11)\n" /* a short jump to such a jump */
                           "\tjne 8f\n"
                           "\tmovsbq 1(%r11), %r10\n"
                           "\tleaq 2(%r11,%r10), %r11\n"
                           "\tjmp lathe_raise_find\n"
                           "8:\tcmpb $0xc3, (%r11)\n" /* all that the function does */
                           "\tjne 9f\n"
                           "\tleaq 10f(%rip), %r11\n"
                           "10:\tret\n"
                           "9:\n"
                           "\t.if FALLBACK\n"
                           "\tpushq %rax\n"
                           "\tpushq %rcx\n"
                           "\tpushq %rdx\n"
                           "\tleaq lathe_image(%rip), %rax\n"
                           "\tmovq %r11, %r10\n"
                           "\tsubq %rax, %r10\n"
                           "\tleaq lathe_raise_callable(%rip), %rdx\n"
                           "\tmovl (%rdx), %ecx\n" /* it is among those from eax on, before ecx */
                           "\txorl %eax, %eax\n"
                           "1:\tcmpl %ecx, %eax\n"
                           "\tjae 4f\n"
                           "\tleal (%rax,%rcx), %r11d\n"
                           "\tshrl $1, %r11d\n"
                           "\tcmpl %r10d, 4(%rdx,%r11,4)\n"
                           "\tje 3f\n"
                           "\tja 2f\n"
                           "\tleal 1(%r11), %eax\n"
                           "\tjmp 1b\n"
                           "2:\tmovl %r11d, %ecx\n"
                           "\tjmp 1b\n"
                           "3:\tpopq %rdx\n"
                           "\tpopq %rcx\n"
                           "\tpopq %rax\n"
                           "\tleaq lathe_raise_left(%rip), %r11\n"
                           "\tret\n"
                           "4:\tleaq lathe_image(%rip), %r11\n"
                           "\taddq %r10, %r11\n"
                           "\t.endif\n"
                           "\tleaq lathe_image(%rip), %rdx\n"
                           "\tsubq %rdx, %r11\n"
                           "\tmovq $BASE, %rdx\n"
                           "\taddq %r11, %rdx\n"
                           "\tleaq 6f(%rip), %rdi\n"
                           "\tmovl $7f-6f, %esi\n"
                           "\tcall lathe_raise_stop\n"
                           "6:\t.ascii \"a computed call or jump leads there, and no function was found\"\n"
                           "7:\n";

/* A result of native code in st(0), if there is one, goes to the state in r13. rax is kept. */
static const char float_result[] = "\n\t.p2align 4\n\t.globl lathe_raise_float\n\t.hidden lathe_raise_float\n"
                                   "lathe_raise_float:\n"
                                   "\tmovq %rax, %rcx\n"
                                   "\tfxam\n"
                                   "\tfnstsw %ax\n"
                                   "\tandb $0x45, %ah\n"
                                   "\tcmpb $0x41, %ah\n"
                                   "\tmovq %rcx, %rax\n"
                                   "\tjne 1f\n"
                                   "\tret\n"
                                   "1:\tfstpt ST+112(%r13)\n"
                                   "\tmovb $7, FPU_TOP(%r13)\n"
                                   "\tmovb $0x80, FPU_TAG(%r13)\n"
                                   "\tret\n";

/* Native code at r14 is called with the arguments in their registers and the guest's stack pointer in r10, by a program that has to do with
 * exceptions. */
static const char out[] =
    "\n\t.p2align 4\n\t.globl lathe_raise_out\n\t.hidden lathe_raise_out\n"
    "lathe_raise_out:\n"
    "\t.cfi_startproc\n"
    "\tpushq %rbx\n"
    "\t.cfi_def_cfa_offset 16\n"
    "\t.cfi_offset %rbx, -16\n"
    "\tmovq %rsp, %rbx\n"
    "\t.cfi_def_cfa_register %rbx\n"
    "\tmovq %rsp, %fs:TOP\n"
    "\tmovq %r10, %rsp\n"
    "\tcallq *%r14\n"
    "\tmovq %rbx, %rsp\n"
    "\tmovq $1, %fs:TOP\n"
    "\t.if X87\n"
    "\tcallq lathe_raise_float\n"
    "\t.endif\n"
    "\tpopq %rbx\n"
    "\t.cfi_def_cfa %rsp, 8\n"
    "\tretq\n"
    "\t.cfi_endproc\n"
    "\t.if FALLBACK\n"
    "\t.p2align 4\n"
    "lathe_raise_left:\n" /* a bridge: r10 leads to the return address, which is pushed once more */
    "\t.cfi_startproc\n"
    "\tpushq %r14\n"
    "\t.cfi_def_cfa_offset 16\n"
    "\t.cfi_offset %r14, -16\n"
    "\tmovq PC(%r13), %r14\n"
    "\tleaq 8(%r10), %r10\n"
    "\tmovl $8, %eax\n" /* for variable arguments: all vector registers may have some */
    "\tcallq lathe_raise_out\n"
    "\tpopq %r14\n"
    "\t.cfi_def_cfa_offset 8\n"
    "\tretq\n"
    "\t.cfi_endproc\n"
    "\t.endif\n";

/* Native code at r11 is called with the guest's stack pointer from rbx, which has the host's meanwhile. It is noted for
 * functions of the program that native code calls. */
#define CALL_NATIVE                                                                                                    \
    "movq %%rsp, %%fs:%1$ld\n\t"                                                                                       \
    "xchgq %%rbx, %%rsp\n\t"                                                                                           \
    "callq *%%r11\n\t"                                                                                                 \
    "movq %%rbx, %%rsp\n\t"                                                                                            \
    "movq $$1, %%fs:%1$ld"

/* The same for a function that ends the thread: the host stack is unmapped before, unless the guest's stack pointer is in it, as in a signal handler. */
#define CALL_END                                                                                                       \
    "movq %%rbx, %%rsp\n\t"                                                                                            \
    "movq %%rdi, %%rbx\n\t"                                                                                            \
    "movq %%r11, %%r12\n\t"                                                                                            \
    "movq %%rsp, %%rdi\n\t"                                                                                            \
    "subq %%fs:%1$ld+8, %%rdi\n\t"                                                                                     \
    "cmpq $$%2$d, %%rdi\n\t"                                                                                           \
    "jb 1f\n\t"                                                                                                        \
    "movq %%fs:%1$ld+8, %%rdi\n\t"                                                                                     \
    "movq $$0, %%fs:%1$ld\n\t"                                                                                         \
    "movq $$0, %%fs:%1$ld+16\n\t"                                                                                      \
    "movl $$%2$d, %%esi\n\t"                                                                                           \
    "movl $$11, %%eax\n\t" /* munmap */                                                                                \
    "syscall\n\t"                                                                                                      \
    "1:\tmovq %%rbx, %%rdi\n\t"                                                                                        \
    "callq *%%r12"

static const char *reg_name(u32 reg) {
    static const char *const ints[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                       "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const vectors[] = {"xmm0", "xmm1", "xmm2",  "xmm3",  "xmm4",  "xmm5",  "xmm6",  "xmm7",
                                          "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"};
    if (reg < ARRAY_LEN(ints))
        return ints[reg];
    return reg >= XMM0 && reg - XMM0 < ARRAY_LEN(vectors) ? vectors[reg - XMM0] : NULL;
}

/* void lathe_raise_cpuid(LatheX86Cpu *cpu): cpuid of a processor without what cannot be raised: AVX and all that needs it. */
static const char processor[] = "\n\t.p2align 4\n\t.globl lathe_raise_cpuid\n\t.hidden lathe_raise_cpuid\n"
                                "lathe_raise_cpuid:\n"
                                "\tpushq %rbx\n"
                                "\tmovl GP(%rdi), %eax\n"
                                "\tmovl GP+8(%rdi), %ecx\n"
                                "\tmovl %eax, %r8d\n"
                                "\tcpuid\n"
                                "\tcmpl $1, %r8d\n"
                                "\tje 1f\n"
                                "\tcmpl $7, %r8d\n"
                                "\tje 2f\n"
                                "\tcmpl $13, %r8d\n"
                                "\tje 2f\n"
                                "3:\tmovq %rax, GP(%rdi)\n"
                                "\tmovq %rcx, GP+8(%rdi)\n"
                                "\tmovq %rdx, GP+16(%rdi)\n"
                                "\tmovq %rbx, GP+24(%rdi)\n"
                                "\tpopq %rbx\n"
                                "\tret\n"
                                "1:\tandl $0x80000000|FEATURES, %ecx\n"
                                "\tjmp 3b\n"
                                "2:\txorl %eax, %eax\n"
                                "\txorl %ebx, %ebx\n"
                                "\txorl %ecx, %ecx\n"
                                "\txorl %edx, %edx\n"
                                "\tjmp 3b\n";

/* void lathe_raise_stop(const char *text, size_t size, u64 pc): writes "lathe: raised code stopped at 0x…: text" and traps. */
static const char stop[] = "\n\t.p2align 4\n\t.globl lathe_raise_stop\n\t.hidden lathe_raise_stop\n"
                           "lathe_raise_stop:\n"
                           "\tsubq $72, %rsp\n"
                           "\tmovq %rdi, %r12\n"
                           "\tmovq %rsi, %r13\n"
                           "\tmovq %rdx, %r14\n"
                           "\tleaq 3f(%rip), %rsi\n"
                           "\tmovl $4f-3f, %edx\n"
                           "\tcall 6f\n"
                           "\tleaq 16(%rsp), %rsi\n"
                           "\tmovl $16, %ecx\n"
                           "1:\tmovl %r14d, %eax\n"
                           "\tandl $15, %eax\n"
                           "\tleaq 4f(%rip), %rdi\n"
                           "\tmovb (%rdi,%rax), %al\n"
                           "\tmovb %al, -1(%rsi,%rcx)\n"
                           "\tshrq $4, %r14\n"
                           "\tdecl %ecx\n"
                           "\tje 2f\n"
                           "\ttestq %r14, %r14\n"
                           "\tjne 1b\n"
                           "2:\taddq %rcx, %rsi\n"
                           "\tmovl $16, %edx\n"
                           "\tsubl %ecx, %edx\n"
                           "\tcall 6f\n"
                           "\tleaq 5f(%rip), %rsi\n"
                           "\tmovl $2, %edx\n"
                           "\tcall 6f\n"
                           "\tmovq %r12, %rsi\n"
                           "\tmovq %r13, %rdx\n"
                           "\tcall 6f\n"
                           "\tleaq 5f+2(%rip), %rsi\n"
                           "\tmovl $1, %edx\n"
                           "\tcall 6f\n"
                           "\tud2\n"
                           "6:\tmovl $2, %edi\n"
                           "\tmovl $1, %eax\n"
                           "\tsyscall\n"
                           "\tret\n"
                           "3:\t.ascii \"lathe: raised code stopped at 0x\"\n"
                           "4:\t.ascii \"0123456789abcdef\"\n"
                           "5:\t.ascii \": \\n\"\n";

/* What compilers call without being asked. */
static const char memory[] = "\n\t.globl memcpy\nmemcpy:\n"
                             "\tmovq %rdi, %rax\n"
                             "\tmovq %rdx, %rcx\n"
                             "\trep movsb\n"
                             "\tret\n"
                             "\t.globl memset\nmemset:\n"
                             "\tmovq %rdi, %r8\n"
                             "\tmovl %esi, %eax\n"
                             "\tmovq %rdx, %rcx\n"
                             "\trep stosb\n"
                             "\tmovq %r8, %rax\n"
                             "\tret\n"
                             "\t.globl memmove\nmemmove:\n"
                             "\tmovq %rdi, %rax\n"
                             "\tsubq %rsi, %rax\n"
                             "\tcmpq %rdx, %rax\n"
                             "\tjae memcpy\n"
                             "\tmovq %rdi, %rax\n"
                             "\tmovq %rdx, %rcx\n"
                             "\tleaq -1(%rdi,%rdx), %rdi\n"
                             "\tleaq -1(%rsi,%rdx), %rsi\n"
                             "\tstd\n"
                             "\trep movsb\n"
                             "\tcld\n"
                             "\tret\n";

/* What cpuid says of the first kind of features, in ecx: no F16C, AVX, OSXSAVE, XSAVE, FMA. For the C library there is no SSSE3 either, for which it has
 * code that computes where to jump to without a table. */
enum { FEATURES = 0x3ffefff, FEATURES_STATIC = FEATURES & ~0x200 };

static char *runtime(i64 thread_offset, u64 image, u64 image_bytes, bool rest, bool unwinds, HostRaiseKind kind) {
    enum { SIZE = 16384 };
    char *text = mem_new(SIZE);
    int len = snprintf(text, SIZE, names, (long)thread_offset, (long)thread_offset + 8, (long)thread_offset + 16,
                       offsetof(LatheX86Cpu, pc), offsetof(LatheX86Cpu, gp), offsetof(LatheX86Cpu, cf),
                       offsetof(LatheX86Cpu, vec), offsetof(LatheX86Cpu, trap), offsetof(LatheX86Cpu, mxcsr),
                       offsetof(LatheX86Cpu, fpu_cw), offsetof(LatheX86Cpu, fpu_sw), offsetof(LatheX86Cpu, fpu_top),
                       offsetof(LatheX86Cpu, fpu_tag), offsetof(LatheX86Cpu, st), FRAME_RSP, FRAME_BYTES, STATE_BYTES,
                       STACK_BYTES, GUARD_BYTES, SIGNAL_GAP, image_bytes, rest, image, unwinds,
                       kind == RAISE_STATIC ? FEATURES_STATIC : FEATURES, kind == RAISE_LIBRARY);
    const char *parts[] = {enter, stacks, find, float_result, out, x86_64_raise_system, processor, stop, memory};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        len += snprintf(text + len, SIZE - (size_t)len, "%s", parts[i]);
    CHECK(len < SIZE, "the assembly of raised programs has room");
    return text;
}

enum { JUMP = 0xe9, JUMP_BYTES = 5, SHORT_JUMP = 0xeb, SHORT_BYTES = 2, SHORT_REACH = 120 };

static void jump(u8 *code, i32 distance) {
    distance -= JUMP_BYTES;
    code[0] = JUMP;
    memcpy(code + 1, &distance, sizeof(distance));
}

static void short_jump(u8 *code, i32 distance) {
    code[0] = SHORT_JUMP;
    code[1] = (u8)(distance - SHORT_BYTES);
}

static bool is_thread_offset(u32 type) {
    return type == R_X86_64_TPOFF64 || type == R_X86_64_DTPOFF64 || type == R_X86_64_TLSDESC;
}

/* rcx has where the program goes on, which clone() needs. */
static const u8 system_call_regs[] = {RAX, RDI, RSI, RDX, R10, R8, R9, RCX};

/* What processors with AVX-512 have besides, and programs have not. */
#define LATER_REGISTERS                                                                                                \
    ",~{xmm16},~{xmm17},~{xmm18},~{xmm19},~{xmm20},~{xmm21},~{xmm22},~{xmm23},~{xmm24},~{xmm25},~{xmm26},~{xmm27}"     \
    ",~{xmm28},~{xmm29},~{xmm30},~{xmm31},~{k0},~{k1},~{k2},~{k3},~{k4},~{k5},~{k6},~{k7}"

const HostRaise x86_64_raise = {
    .features = "-fast-shld-rotate", /* LLVM's x86-64-v2 is tuned for a processor on which these were fast */
    .runtime = runtime,
    .thread_bytes = 24,
    .library_thread_offset = 0x240, /* in rtld_savespace_sse of glibc's tcbhead_t, 0x80 to 0x280 */
    .stack_mark = "nest",           /* r10 */
    .state_mark = "swiftself",      /* r13 */
    .target_mark = "swiftasync",    /* r14 */
    .reg_name = reg_name,
    .call = CALL_NATIVE,
    .call_rest = CALL_NATIVE "\n\tcallq lathe_raise_float",
    .call_end = CALL_END,
    .stack_bytes = STACK_BYTES,
    .call_stack = "rbx",
    .call_target = "r11",
    .call_state = "r13",
    .call_lost = "~{memory},~{dirflag},~{fpsr},~{flags}" LATER_REGISTERS,
    .landed = "movq $$1, %%fs:%ld", /* TOP: raised code runs again */
    .divides = "xorl %eax, %eax\n\tdivl %eax",
    .traps = "ud2",
    .trap_lost = "~{rax},~{rdx},~{memory},~{flags}",
    .find = "callq lathe_raise_find",
    .find_constraints = "={r11},{r11},~{r10},~{flags}",
    .entry = "\t.globl %s\n%s:\tleaq %s(%%rip), %%r11\n\tjmp lathe_raise_enter\n",
    .entry_first = "\t.globl %s\n%s:\tleaq %s(%%rip), %%r11\n\tjmp lathe_raise_enter_first\n",
    .entry_direct = "\t.globl %s\n%s:\tleaq %s(%%rip), %%r11\n\tjmp %s\n",
    .entry_rest = "\t.globl %s\n%s:\tleaq %s(%%rip), %%r11\n\tjmp lathe_raise_enter_rest\n",
    .jump_bytes = JUMP_BYTES,
    .jump = jump,
    .short_bytes = SHORT_BYTES,
    .short_reach = SHORT_REACH,
    .short_jump = short_jump,
    .fill = 0xcc, /* int3 */
    .only_return = 0xc3,
    .is_thread_offset = is_thread_offset,
    .start = x86_64_raise_start,
    .kept = x86_64_raise_kept,
    .system_call_regs = system_call_regs,
    .system_call_reg_count = ARRAY_LEN(system_call_regs),
    .is_system_call = x86_64_raise_is_system_call,
    .starts_thread = x86_64_raise_starts_thread,
};
