/* raise.c: where raised functions of x86-64 programs and native code call each other (HostRaise).
 *
 * Raised functions have two stacks. Their own frames are on one of Lathe's, the host's stack; the program's frames are where the
 * program's stack pointer leads. Native code runs on the program's stack, where it finds its arguments and puts the return
 * address, and native code that calls a raised function does so there, too. A thread has three variables: the top of its host
 * stack as it was when raised code last called native code, and where that stack begins and ends. */
#include <elf.h>
#include <stdio.h>

#include "host/x86_64/parts.h"

enum { STACK_BYTES = 64 << 20, GUARD_BYTES = 4096, SIGNAL_GAP = 1 << 20 };
enum { STATE_BYTES = (sizeof(LatheX86Cpu) + 63) / 64 * 64, FRAME_BYTES = STATE_BYTES + 64 };

static const char names[] =
    ".set TOP, %ld\n.set LOW, %ld\n.set HIGH, %ld\n"
    ".set PC, %zu\n.set GP, %zu\n.set FLAGS, %zu\n.set XMM, %zu\n.set TRAP, %zu\n"
    ".set MXCSR, %zu\n.set FPU_CW, %zu\n.set FPU_SW, %zu\n.set FPU_TOP, %zu\n.set FPU_TAG, %zu\n"
    ".set ST, %zu\n.set FRAME, %d\n.set KEEP, %d\n.set STACK, %d\n.set GUARD, %d\n.set GAP, %d\n.set IMAGE, %lu\n.set "
    "X87, %d\n.set BASE, %lu\n";

/* Native code has called a function of the program, whose bridge is in r11. The program's red zone is free here. If the stack
 * pointer is within the host's stack, raised code was interrupted by a signal: the handler's own frames go below it, and those
 * of raised functions at some distance. The frame is claimed before it is filled, because a signal may come. The return address is
 * put back in the end: a function that ends with a jump to native code has had another one there. */
static const char enter[] = "\n\t.text\n\t.p2align 4\n\t.globl lathe_raise_enter\n\t.hidden lathe_raise_enter\n"
                            "lathe_raise_enter:\n"
                            "\tmovq %rbx, -8(%rsp)\n"
                            "\tmovq %rbp, -16(%rsp)\n"
                            "\tmovq %fs:TOP, %rbp\n"
                            "\tmovq %rbp, %rbx\n"
                            "\ttestq %rbp, %rbp\n"
                            "\tje 3f\n"
                            "\tcmpq %fs:LOW, %rsp\n"
                            "\tjb 1f\n"
                            "\tcmpq %fs:HIGH, %rsp\n"
                            "\tjae 1f\n"
                            "\tleaq -GAP(%rsp), %rbx\n"
                            "1:\tandq $-64, %rbx\n"
                            "\tsubq $FRAME, %rbx\n"
                            "\tmovq %rbx, %fs:TOP\n"
                            "\tmovq %rbp, KEEP(%rbx)\n"
                            "\tmovq %rsp, KEEP+8(%rbx)\n"
                            "\tmovq %rax, GP(%rbx)\n"
                            "\tmovq -8(%rsp), %rax\n"
                            "\tmovq (%rsp), %rbp\n"
                            "\tmovq %rbp, KEEP+32(%rbx)\n"
                            "\tmovq -16(%rsp), %rbp\n"
                            "\tmovq %rax, KEEP+16(%rbx)\n"
                            "\tmovq %rbp, KEEP+24(%rbx)\n"
                            "\tmovq %rcx, GP+8(%rbx)\n"
                            "\tmovq %rdx, GP+16(%rbx)\n"
                            "\tmovq %rax, GP+24(%rbx)\n"
                            "\tmovq %rsp, GP+32(%rbx)\n"
                            "\tmovq %rbp, GP+40(%rbx)\n"
                            "\tmovq %rsi, GP+48(%rbx)\n"
                            "\tmovq %rdi, GP+56(%rbx)\n"
                            "\tmovq %r8, GP+64(%rbx)\n"
                            "\tmovq %r9, GP+72(%rbx)\n"
                            "\tmovq %r10, GP+80(%rbx)\n"
                            "\tmovups %xmm0, XMM(%rbx)\n"
                            "\tmovups %xmm1, XMM+64(%rbx)\n"
                            "\tmovups %xmm2, XMM+128(%rbx)\n"
                            "\tmovups %xmm3, XMM+192(%rbx)\n"
                            "\tmovups %xmm4, XMM+256(%rbx)\n"
                            "\tmovups %xmm5, XMM+320(%rbx)\n"
                            "\tmovups %xmm6, XMM+384(%rbx)\n"
                            "\tmovups %xmm7, XMM+448(%rbx)\n"
                            "\tmovq $0, FLAGS(%rbx)\n"
                            "\tmovl $0, TRAP(%rbx)\n"
                            "\tmovl $0x1f80, MXCSR(%rbx)\n"
                            "\tmovw $0x37f, FPU_CW(%rbx)\n"
                            "\tmovw $0, FPU_SW(%rbx)\n"
                            "\tmovb $0, FPU_TOP(%rbx)\n"
                            "\tmovb $0, FPU_TAG(%rbx)\n"
                            "\tmovq %rbx, %rsp\n"
                            "\tmovq %rbx, %rdi\n"
                            "\tcall *%r11\n"
                            "\tcmpb $0, FPU_TAG(%rbx)\n"
                            "\tjne 5f\n"
                            "2:\tmovq GP(%rbx), %rax\n"
                            "\tmovq GP+16(%rbx), %rdx\n"
                            "\tmovups XMM(%rbx), %xmm0\n"
                            "\tmovups XMM+64(%rbx), %xmm1\n"
                            "\tmovq KEEP(%rbx), %rcx\n"
                            "\tmovq KEEP+8(%rbx), %rsi\n"
                            "\tmovq KEEP+32(%rbx), %rdi\n"
                            "\tmovq %rdi, (%rsi)\n"
                            "\tmovq KEEP+24(%rbx), %rbp\n"
                            "\tmovq KEEP+16(%rbx), %rbx\n"
                            "\tmovq %rcx, %fs:TOP\n"
                            "\ttestq %rcx, %rcx\n"
                            "\tmovq %rsi, %rsp\n"
                            "\tje 4f\n"
                            "\tret\n";

/* The first raised function of a thread, or the first since the last one has returned: it gets a stack, and gives it back. */
static const char stacks[] = "3:\tmovq %rax, -24(%rsp)\n"
                             "\tmovq %rdi, -32(%rsp)\n"
                             "\tmovq %rsi, -40(%rsp)\n"
                             "\tmovq %rdx, -48(%rsp)\n"
                             "\tmovq %rcx, -56(%rsp)\n"
                             "\tmovq %r8, -64(%rsp)\n"
                             "\tmovq %r9, -72(%rsp)\n"
                             "\tmovq %r10, -80(%rsp)\n"
                             "\tmovq %r11, -88(%rsp)\n"
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
                             "\tleaq STACK(%rax), %rbx\n"
                             "\tmovq %rbx, %fs:HIGH\n"
                             "\tmovq %rdi, %fs:LOW\n"
                             "\tmovl $10, %eax\n" /* mprotect: the lowest page is a guard */
                             "\tmovl $GUARD, %esi\n"
                             "\txorl %edx, %edx\n"
                             "\tsyscall\n"
                             "\tmovq -24(%rsp), %rax\n"
                             "\tmovq -32(%rsp), %rdi\n"
                             "\tmovq -40(%rsp), %rsi\n"
                             "\tmovq -48(%rsp), %rdx\n"
                             "\tmovq -56(%rsp), %rcx\n"
                             "\tmovq -64(%rsp), %r8\n"
                             "\tmovq -72(%rsp), %r9\n"
                             "\tmovq -80(%rsp), %r10\n"
                             "\tmovq -88(%rsp), %r11\n"
                             "\tjmp 1b\n"
                             "4:\tpushq %rax\n"
                             "\tpushq %rdx\n"
                             "\tmovq %fs:LOW, %rdi\n"
                             "\tmovq $0, %fs:HIGH\n"
                             "\tmovl $STACK, %esi\n"
                             "\tmovl $11, %eax\n" /* munmap */
                             "\tsyscall\n"
                             "\tpopq %rdx\n"
                             "\tpopq %rax\n"
                             "\tret\n"
                             "5:\tmovzbl FPU_TOP(%rbx), %ecx\n"
                             "\tandl $7, %ecx\n"
                             "\tshll $4, %ecx\n"
                             "\tfldt ST(%rbx,%rcx)\n"
                             "\tjmp 2b\n"
                             "9:\tud2\n";

/* void lathe_raise_call(LatheX86Cpu *cpu): calls what is at cpu->pc. If that is a function of the program, its bridge is called at once: it
 * is found by the jump there, and by the entry's own instructions. Else it is native code. What the program has put on its stack as the return
 * address is replaced by the call's. A result in st(0) is found by looking whether that is empty. */
static const char call[] = "\n\t.p2align 4\n\t.globl lathe_raise_call\n\t.hidden lathe_raise_call\n"
                           "lathe_raise_call:\n"
                           "\tmovq PC(%rdi), %rax\n"
                           "\tleaq lathe_image(%rip), %rcx\n"
                           "\tmovq %rax, %rdx\n"
                           "\tsubq %rcx, %rdx\n"
                           "\tcmpq $IMAGE, %rdx\n"
                           "\tjae 3f\n"
                           "\tcmpb $0xe9, (%rax)\n"
                           "\tjne 5f\n"
                           "\tmovslq 1(%rax), %rcx\n"
                           "\tleaq 5(%rax,%rcx), %rax\n"
                           "\tmovslq 3(%rax), %rcx\n"
                           "\tleaq 7(%rax,%rcx), %rax\n"
                           "\tjmp *%rax\n"
                           "5:\tcmpb $0xeb, (%rax)\n" /* a short jump to such a jump */
                           "\tje 3f\n"
                           "\taddq $BASE, %rdx\n"
                           "\tleaq 6f(%rip), %rdi\n"
                           "\tmovl $7f-6f, %esi\n"
                           "\tsubq $8, %rsp\n"
                           "\tcall lathe_raise_stop\n"
                           "6:\t.ascii \"a computed call or jump leads there, and no function was found\"\n"
                           "7:\n"
                           "3:\tpushq %rbx\n"
                           "\tpushq %rbp\n"
                           "\tsubq $8, %rsp\n"
                           "\tmovq %rdi, %rbx\n"
                           "\tmovq %rsp, %rbp\n"
                           "\tmovq %rsp, %fs:TOP\n"
                           "\tmovq PC(%rbx), %r11\n"
                           "\tmovq GP(%rbx), %rax\n"
                           "\tmovq GP+8(%rbx), %rcx\n"
                           "\tmovq GP+16(%rbx), %rdx\n"
                           "\tmovq GP+48(%rbx), %rsi\n"
                           "\tmovq GP+56(%rbx), %rdi\n"
                           "\tmovq GP+64(%rbx), %r8\n"
                           "\tmovq GP+72(%rbx), %r9\n"
                           "\tmovq GP+80(%rbx), %r10\n"
                           "\tmovups XMM(%rbx), %xmm0\n"
                           "\tmovups XMM+64(%rbx), %xmm1\n"
                           "\tmovups XMM+128(%rbx), %xmm2\n"
                           "\tmovups XMM+192(%rbx), %xmm3\n"
                           "\tmovups XMM+256(%rbx), %xmm4\n"
                           "\tmovups XMM+320(%rbx), %xmm5\n"
                           "\tmovups XMM+384(%rbx), %xmm6\n"
                           "\tmovups XMM+448(%rbx), %xmm7\n"
                           "\tmovq GP+32(%rbx), %rsp\n"
                           "\tleaq 8(%rsp), %rsp\n"
                           "\tcall *%r11\n"
                           "\tmovq %rbp, %rsp\n"
                           "\tmovq %rax, GP(%rbx)\n"
                           "\tmovq %rdx, GP+16(%rbx)\n"
                           "\tmovups %xmm0, XMM(%rbx)\n"
                           "\tmovups %xmm1, XMM+64(%rbx)\n"
                           "\t.if X87\n"
                           "\tfxam\n"
                           "\tfnstsw %ax\n"
                           "\tandb $0x45, %ah\n"
                           "\tcmpb $0x41, %ah\n"
                           "\tjne 1f\n"
                           "\t.endif\n"
                           "2:\taddq $8, %rsp\n"
                           "\tpopq %rbp\n"
                           "\tpopq %rbx\n"
                           "\tret\n"
                           "1:\tfstpt ST+112(%rbx)\n"
                           "\tmovb $7, FPU_TOP(%rbx)\n"
                           "\tmovb $0x80, FPU_TAG(%rbx)\n"
                           "\tjmp 2b\n";

/* void lathe_raise_syscall(LatheX86Cpu *cpu) */
static const char system_call[] = "\n\t.p2align 4\n\t.globl lathe_raise_syscall\n\t.hidden lathe_raise_syscall\n"
                                  "lathe_raise_syscall:\n"
                                  "\tpushq %rbx\n"
                                  "\tmovq %rdi, %rbx\n"
                                  "\tmovq GP(%rbx), %rax\n"
                                  "\tmovq GP+16(%rbx), %rdx\n"
                                  "\tmovq GP+48(%rbx), %rsi\n"
                                  "\tmovq GP+56(%rbx), %rdi\n"
                                  "\tmovq GP+64(%rbx), %r8\n"
                                  "\tmovq GP+72(%rbx), %r9\n"
                                  "\tmovq GP+80(%rbx), %r10\n"
                                  "\tsyscall\n"
                                  "\tmovq %rax, GP(%rbx)\n"
                                  "\tpopq %rbx\n"
                                  "\tret\n";

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
                                "1:\tandl $0x83ffefff, %ecx\n" /* without F16C, AVX, OSXSAVE, XSAVE, FMA */
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

static char *runtime(i64 thread_offset, u64 image, u64 image_bytes, bool rest) {
    enum { SIZE = 16384 };
    char *text = mem_new(SIZE);
    int len = snprintf(text, SIZE, names, (long)thread_offset, (long)thread_offset + 8, (long)thread_offset + 16,
                       offsetof(LatheX86Cpu, pc), offsetof(LatheX86Cpu, gp), offsetof(LatheX86Cpu, cf),
                       offsetof(LatheX86Cpu, vec), offsetof(LatheX86Cpu, trap), offsetof(LatheX86Cpu, mxcsr),
                       offsetof(LatheX86Cpu, fpu_cw), offsetof(LatheX86Cpu, fpu_sw), offsetof(LatheX86Cpu, fpu_top),
                       offsetof(LatheX86Cpu, fpu_tag), offsetof(LatheX86Cpu, st), FRAME_BYTES, STATE_BYTES, STACK_BYTES,
                       GUARD_BYTES, SIGNAL_GAP, image_bytes, rest, image);
    const char *parts[] = {enter, stacks, call, system_call, processor, stop, memory};
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

const HostRaise x86_64_raise = {
    .features = "-fast-shld-rotate", /* LLVM's x86-64-v2 is tuned for a processor on which these were fast */
    .runtime = runtime,
    .thread_bytes = 24,
    .entry = "\t.globl %s\n%s:\tleaq %s(%%rip), %%r11\n\tjmp lathe_raise_enter\n",
    .jump_bytes = JUMP_BYTES,
    .jump = jump,
    .short_bytes = SHORT_BYTES,
    .short_reach = SHORT_REACH,
    .short_jump = short_jump,
    .fill = 0xcc, /* int3 */
    .is_thread_offset = is_thread_offset,
};
