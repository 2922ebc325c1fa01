/* evaluate.c: see evaluate.h. */
#include "binopt/x86_64/machine/evaluate.h"

#include <xmmintrin.h>

#include "binopt/x86_64/machine/encode.h"

#define REGISTERS ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
#define END "\n\t.endr\n\t"

/* Loads all registers except the stack pointer from *m, calls the code, and stores the registers. The offsets are those
 * of MachineRegs. */
__attribute__((naked)) static void execute(MachineRegs *m, const void *code) {
    (void)m;
    (void)code;
    __asm__("push %rbx\n\t"
            "push %rbp\n\t"
            "push %r12\n\t"
            "push %r13\n\t"
            "push %r14\n\t"
            "push %r15\n\t"
            "push %rdi\n\t"
            "push %rsi\n\t"
            "cmpq $0, 136(%rdi)\n\t"
            "je 1f\n\t" REGISTERS "movups 144 + 16*\\n(%rdi), %xmm\\n" END "1: pushq 128(%rdi)\n\t"
            "popfq\n\t"
            "mov 0(%rdi), %rax\n\t"
            "mov 8(%rdi), %rcx\n\t"
            "mov 16(%rdi), %rdx\n\t"
            "mov 24(%rdi), %rbx\n\t"
            "mov 40(%rdi), %rbp\n\t"
            "mov 48(%rdi), %rsi\n\t"
            "mov 64(%rdi), %r8\n\t"
            "mov 72(%rdi), %r9\n\t"
            "mov 80(%rdi), %r10\n\t"
            "mov 88(%rdi), %r11\n\t"
            "mov 96(%rdi), %r12\n\t"
            "mov 104(%rdi), %r13\n\t"
            "mov 112(%rdi), %r14\n\t"
            "mov 120(%rdi), %r15\n\t"
            "mov 56(%rdi), %rdi\n\t"
            "call *(%rsp)\n\t"
            "push %rdi\n\t"
            "mov 16(%rsp), %rdi\n\t"
            "pushfq\n\t"
            "popq 128(%rdi)\n\t"
            "popq 56(%rdi)\n\t"
            "cld\n\t"
            "mov %rax, 0(%rdi)\n\t"
            "mov %rcx, 8(%rdi)\n\t"
            "mov %rdx, 16(%rdi)\n\t"
            "mov %rbx, 24(%rdi)\n\t"
            "mov %rbp, 40(%rdi)\n\t"
            "mov %rsi, 48(%rdi)\n\t"
            "mov %r8, 64(%rdi)\n\t"
            "mov %r9, 72(%rdi)\n\t"
            "mov %r10, 80(%rdi)\n\t"
            "mov %r11, 88(%rdi)\n\t"
            "mov %r12, 96(%rdi)\n\t"
            "mov %r13, 104(%rdi)\n\t"
            "mov %r14, 112(%rdi)\n\t"
            "mov %r15, 120(%rdi)\n\t"
            "cmpq $0, 136(%rdi)\n\t"
            "je 2f\n\t" REGISTERS "movups %xmm\\n, 144 + 16*\\n(%rdi)" END "2: add $16, %rsp\n\t"
            "pop %r15\n\t"
            "pop %r14\n\t"
            "pop %r13\n\t"
            "pop %r12\n\t"
            "pop %rbp\n\t"
            "pop %rbx\n\t"
            "ret");
}
_Static_assert(offsetof(MachineRegs, flags) == 128 && offsetof(MachineRegs, use_vec) == 136 &&
                   offsetof(MachineRegs, vec) == 144,
               "execute() has these offsets as numbers");

void evaluator_init(Evaluator *e) {
    *e = (Evaluator){0};
    e->works = codemem_init(&e->memory);
    CodeSpan span;
    if (e->works && codemem_alloc(&e->memory, 1, EVALUATE_MEM_BYTES, EVALUATE_MEM_BYTES, &span))
        e->operand = span.data;
    e->level = __builtin_cpu_supports("x86-64-v3") ? X86_LEVEL_3 : X86_LEVEL_BASE;
}

void evaluator_free(Evaluator *e) {
    if (e->works)
        codemem_free(&e->memory);
    map64_free(&e->copies);
}

/* FNV-1a. The bytes of an instruction are hashed as two words. */
static u64 hash_of(const MachineInsn *in) {
    u64 h = 0xcbf29ce484222325;
    for (u32 i = 0; i < in->length; i++)
        h = (h ^ in->bytes[i]) * 0x100000001b3;
    return h;
}

enum { COPY_BYTES = 48, COPY_CODE = 16 };

/* Each copy is preceded by the instruction that it was made from. */
static const u8 *copy_of(Evaluator *e, const MachineInsn *in) {
    u32 at;
    u64 key = hash_of(in);
    if (map64_get(&e->copies, key, &at))
        return !memcmp(e->memory.code_write + at, in->bytes, in->length) ? e->memory.code_run + at + COPY_CODE : NULL;
    CodeSpan span;
    if (!codemem_alloc(&e->memory, COPY_BYTES, 0, 64, &span))
        return NULL;
    memcpy(span.code_write, in->bytes, in->length);
    u8 *to = span.code_write + COPY_CODE;
    u32 size = in->length;
    if (in->has_mem)
        size = encode_with_address(in, (u64)e->operand, (u64)span.code_run + COPY_CODE, to);
    else
        memcpy(to, in->bytes, in->length);
    to[size] = 0xc3;
    map64_set(&e->copies, key, (u32)(span.code_run - e->memory.code_run));
    return span.code_run + COPY_CODE;
}

static i64 extended(u64 v, u32 bits) {
    return (i64)(v << (64 - bits)) >> (64 - bits);
}

/* Divisions by zero, and quotients that do not fit, must fault in the program and are not executed here. Signed
 * dividends must be sign-extended from half their size. */
static bool divides_safely(const MachineInsn *in, const MachineRegs *m, const u8 *operand) {
    const MachineOp *by = &in->op[0];
    u64 divisor = 0;
    if (by->bits < 32 || by->high)
        return false;
    if (by->kind == OP_MEM)
        memcpy(&divisor, operand, by->bits / 8);
    else
        divisor = m->gp[by->no];
    divisor = by->bits == 32 ? (u32)divisor : divisor;
    u64 low = m->gp[RAX], high = by->bits == 32 ? (u32)m->gp[RDX] : m->gp[RDX];
    if (in->mnemonic == ZYDIS_MNEMONIC_DIV)
        return high < divisor;
    return extended(divisor, by->bits) != 0 && extended(divisor, by->bits) != -1 &&
           extended(high, by->bits) == extended(low, by->bits) >> (by->bits - 1);
}

bool evaluate_insn(Evaluator *e, const MachineInsn *in, MachineRegs *m, u8 *operand) {
    enum { FIXED_FLAGS = 0x202 };
    bool divides = in->mnemonic == ZYDIS_MNEMONIC_DIV || in->mnemonic == ZYDIS_MNEMONIC_IDIV;
    Regs used = in->reads | in->writes;
    if (!e->operand || !in->pure || in->mem.bytes > EVALUATE_MEM_BYTES || used & BIT(RSP) || in->level > e->level)
        return false;
    if (divides && !divides_safely(in, m, operand))
        return false;
    u32 mode = _mm_getcsr();
    m->use_vec = (used & ALL_VEC) != 0;
    if (m->use_vec && (mode & _MM_MASK_MASK) != _MM_MASK_MASK) /* exceptions, too, must be raised in the program */
        return false;
    const u8 *code = copy_of(e, in);
    if (!code)
        return false;
    if (in->has_mem)
        memcpy(e->operand, operand, in->mem.bytes);
    m->flags |= FIXED_FLAGS;
    execute(m, code);
    if (m->use_vec && _mm_getcsr() != mode)
        _mm_setcsr(mode);
    if (in->has_mem)
        memcpy(operand, e->operand, in->mem.bytes);
    return true;
}
