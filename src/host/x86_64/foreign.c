/* foreign.c: the x86-64 side of programs that were raised from another machine: see isa/foreign.h. Exceptions go through both functions by their unwind tables. */
#include "isa/foreign.h"

_Static_assert(offsetof(ForeignRegs, floats) == 64 && offsetof(ForeignRegs, result) == 200 &&
                   sizeof(ForeignRegs) <= 208,
               "assembly knows them");

const bool host_result_apart = false;

/* From arguments in registers and on the stack to results: `ints` has the integers moved to where ForeignRegs has them, `result` loads the first result. */
#define ENTER(name, ints, result)                                                                                      \
    "\t.text\n\t.p2align 4\n\t.globl " name "\n\t.hidden " name "\n\t.type " name ", @function\n" name ":\n"           \
    "\t.cfi_startproc\n"                                                                                               \
    "\tmovq 8(%rsp), %rax\n"                                                                                           \
    "\tmovq 16(%rsp), %r10\n"                                                                                          \
    "\tsubq $216, %rsp\n\t.cfi_adjust_cfa_offset 216\n" ints                                                           \
    "\tmovaps %xmm0, 64(%rsp)\n\tmovaps %xmm1, 80(%rsp)\n\tmovaps %xmm2, 96(%rsp)\n\tmovaps %xmm3, 112(%rsp)\n"        \
    "\tmovaps %xmm4, 128(%rsp)\n\tmovaps %xmm5, 144(%rsp)\n\tmovaps %xmm6, 160(%rsp)\n\tmovaps %xmm7, 176(%rsp)\n"     \
    "\tmovq %rsp, %rdi\n"                                                                                              \
    "\tmovq %r11, %rsi\n"                                                                                              \
    "\tcall lathe_raise_entered\n"                                                                                     \
    "\tmovq " result "(%rsp), %rax\n\tmovq 8(%rsp), %rdx\n"                                                            \
    "\tmovaps 64(%rsp), %xmm0\n\tmovaps 80(%rsp), %xmm1\n"                                                             \
    "\taddq $216, %rsp\n\t.cfi_adjust_cfa_offset -216\n"                                                               \
    "\tret\n"                                                                                                          \
    "\t.cfi_endproc\n"                                                                                                 \
    "\t.size " name ", .-" name "\n"

/* Entries of functions come here with their bridge in r11. */
__asm__(ENTER("lathe_raise_enter",
              "\tmovq %rdi, 0(%rsp)\n\tmovq %rsi, 8(%rsp)\n\tmovq %rdx, 16(%rsp)\n\tmovq %rcx, 24(%rsp)\n"
              "\tmovq %r8, 32(%rsp)\n\tmovq %r9, 40(%rsp)\n\tmovq %rax, 48(%rsp)\n\tmovq %r10, 56(%rsp)\n"
              "\tmovq $0, 200(%rsp)\n",
              "0"));

/* And here, if the guest has a register of its own for the address of a result in memory. */
__asm__(ENTER("lathe_raise_enter_for_memory",
              "\tmovq %rdi, 200(%rsp)\n\tmovq %rsi, 0(%rsp)\n\tmovq %rdx, 8(%rsp)\n\tmovq %rcx, 16(%rsp)\n"
              "\tmovq %r8, 24(%rsp)\n\tmovq %r9, 32(%rsp)\n\tmovq %rax, 40(%rsp)\n\tmovq %r10, 48(%rsp)\n"
              "\tmovq $0, 56(%rsp)\n",
              "200"));

/* host_call(target, regs): the seventh and eighth integer are on the stack. */
__asm__("\t.p2align 4\n\t.globl host_call\n\t.hidden host_call\n\t.type host_call, @function\n"
        "host_call:\n"
        "\t.cfi_startproc\n"
        "\tpushq %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset rbx, 0\n"
        "\tmovq %rsi, %rbx\n"
        "\tmovq %rdi, %r11\n"
        "\tpushq 56(%rbx)\n"
        "\tpushq 48(%rbx)\n\t.cfi_adjust_cfa_offset 16\n"
        "\tmovups 64(%rbx), %xmm0\n\tmovups 80(%rbx), %xmm1\n\tmovups 96(%rbx), %xmm2\n\tmovups 112(%rbx), %xmm3\n"
        "\tmovups 128(%rbx), %xmm4\n\tmovups 144(%rbx), %xmm5\n\tmovups 160(%rbx), %xmm6\n\tmovups 176(%rbx), %xmm7\n"
        "\tmovq 0(%rbx), %rdi\n\tmovq 8(%rbx), %rsi\n\tmovq 16(%rbx), %rdx\n\tmovq 24(%rbx), %rcx\n"
        "\tmovq 32(%rbx), %r8\n\tmovq 40(%rbx), %r9\n"
        "\tmovl $8, %eax\n"
        "\tcall *%r11\n"
        "\taddq $16, %rsp\n\t.cfi_adjust_cfa_offset -16\n"
        "\tmovq %rax, 0(%rbx)\n\tmovq %rdx, 8(%rbx)\n"
        "\tmovups %xmm0, 64(%rbx)\n\tmovups %xmm1, 80(%rbx)\n"
        "\tpopq %rbx\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore rbx\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        "\t.size host_call, .-host_call\n");

/* System V ABI, x86-64 supplement, "The va_list type": no arguments are left in registers. */
void *host_list(void *room, u64 *slots) {
    struct {
        u32 int_offset, float_offset;
        void *overflow, *saved;
    } list = {.int_offset = 48, .float_offset = 176, .overflow = slots};
    return memcpy(room, &list, sizeof(list));
}
