/* raise_system.c: raised programs of x86-64 and the system: system calls that their own code makes, and how statically linked ones begin
 * (HostRaise). */
#include "host/x86_64/parts.h"
#include "isa/x86_64/facts.h"

enum { CALL_CLONE = 56, CALL_CLONE3 = 435 };

/* void lathe_raise_syscall(LatheX86Cpu *cpu). Some calls need more than to be made:
 *
 *     vfork         is fork(): the child would run on the frames of raised functions that its parent returns through
 *     arch_prctl    where it sets the thread pointer, raise's own variables of the thread go along
 *     exit          of a thread: its host stack goes first
 *     clone         if the child has another stack, it goes on behind the system call as native code that enters a raised function. Where it
 *                   has the thread pointer of its parent, that waits for it, and the child's frames are below the parent's. */
const char x86_64_raise_system[] = "\n\t.p2align 4\n\t.globl lathe_raise_syscall\n\t.hidden lathe_raise_syscall\n"
                                   "lathe_raise_syscall:\n"
                                   "\tpushq %rbx\n"
                                   "\tpushq %rbp\n"
                                   "\tpushq %r12\n"
                                   "\tmovq %rdi, %rbx\n"
                                   "\tmovq GP(%rbx), %rax\n"
                                   "\tmovq GP+8(%rbx), %r12\n" /* where the program goes on */
                                   "\tmovq GP+16(%rbx), %rdx\n"
                                   "\tmovq GP+48(%rbx), %rsi\n"
                                   "\tmovq GP+56(%rbx), %rdi\n"
                                   "\tmovq GP+64(%rbx), %r8\n"
                                   "\tmovq GP+72(%rbx), %r9\n"
                                   "\tmovq GP+80(%rbx), %r10\n"
                                   "\tcmpq $56, %rax\n"
                                   "\tje 2f\n"
                                   "\tcmpq $435, %rax\n"
                                   "\tje 2f\n"
                                   "\tcmpq $58, %rax\n"
                                   "\tje 3f\n"
                                   "\tcmpq $60, %rax\n"
                                   "\tje 4f\n"
                                   "\tcmpq $158, %rax\n"
                                   "\tje 5f\n"
                                   "8:\tsyscall\n"
                                   "9:\tmovq %rax, GP(%rbx)\n"
                                   "\tpopq %r12\n"
                                   "\tpopq %rbp\n"
                                   "\tpopq %rbx\n"
                                   "\tret\n"
                                   "2:\tmovq %rsp, %rbp\n"
                                   "\tmovq %rsp, %fs:TOP\n"
                                   "\tsyscall\n"
                                   "\tcmpq %rbp, %rsp\n"
                                   "\tjne 7f\n"
                                   "\tmovq $1, %fs:TOP\n"
                                   "\tjmp 9b\n"
                                   "7:\tmovq %r12, %rcx\n"
                                   "\txorl %ebp, %ebp\n"
                                   "\tjmp *%rcx\n"
                                   "3:\tmovl $57, %eax\n"
                                   "\tjmp 8b\n"
                                   "4:\tcmpq $0, %fs:HIGH\n"
                                   "\tje 8b\n"
                                   "\tmovl %edi, %r12d\n"
                                   "\tmovq %fs:LOW, %rdi\n"
                                   "\tmovl $STACK, %esi\n"
                                   "\tmovl $11, %eax\n" /* munmap */
                                   "\tsyscall\n"
                                   "\tmovl %r12d, %edi\n"
                                   "\tmovl $60, %eax\n"
                                   "\tsyscall\n"
                                   "5:\tcmpq $0x1002, %rdi\n" /* ARCH_SET_FS */
                                   "\tjne 8b\n"
                                   "\tmovq %fs:TOP, %r8\n"
                                   "\tmovq %fs:LOW, %r9\n"
                                   "\tmovq %fs:HIGH, %r10\n"
                                   "\tsyscall\n"
                                   "\ttestq %rax, %rax\n"
                                   "\tjne 9b\n"
                                   "\tmovq %r8, %fs:TOP\n"
                                   "\tmovq %r9, %fs:LOW\n"
                                   "\tmovq %r10, %fs:HIGH\n"
                                   "\tjmp 9b\n";

/* The kernel begins a statically linked program without a thread pointer: until its own code sets one, it leads to zeros. */
const char x86_64_raise_start[] = "\n\t.text\n\t.globl lathe_raise_start\nlathe_raise_start:\n"
                                  "\tmovl $158, %%eax\n" /* arch_prctl */
                                  "\tmovl $0x1002, %%edi\n"
                                  "\tleaq lathe_raise_first_thread(%%rip), %%rsi\n"
                                  "\tsyscall\n"
                                  "\tjmp %s\n"
                                  "\t.data\n\t.p2align 6\n\t.zero (63-(TOP))&-64\n"
                                  "lathe_raise_first_thread:\t.zero 1024\n\t.text\n";

static bool begins_with(const u8 *code, size_t size, const u8 *bytes, size_t count) {
    return size >= count && !memcmp(code, bytes, count);
}

#define BEGINS(code, size, ...) begins_with(code, size, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

/* Does it load (or store, by the opcode) rbx and r12 to r15 where a jmp_buf has them? glibc and musl have the same places. */
static bool moves_kept(const u8 *code, size_t size, u8 opcode) {
    const u8 want[][4] = {{0x48, opcode, 0x1f},
                          {0x4c, opcode, 0x67, 16},
                          {0x4c, opcode, 0x6f, 24},
                          {0x4c, opcode, 0x77, 32},
                          {0x4c, opcode, 0x7f, 40}};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        size_t count = i ? 4 : 3, at = 0;
        while (at + count <= size && memcmp(code + at, want[i], count))
            at++;
        if (at + count > size)
            return false;
    }
    return true;
}

const char *x86_64_raise_kept(const u8 *code, size_t size) {
    enum { STORE = 0x89, LOAD = 0x8b, MARK_BYTES = 4 };
    if (BEGINS(code, size, 0xf3, 0x0f, 0x1e, 0xfa)) { /* endbr64 */
        code += MARK_BYTES;
        size -= MARK_BYTES;
    }
    if (BEGINS(code, size, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05)) /* rt_sigreturn */
        return "sigreturn";
    if (BEGINS(code, size, 0x48, STORE, 0x1f) && moves_kept(code, size, STORE)) /* rbx to (rdi) */
        return "setjmp";
    bool from_first = size > 3 && (code[0] & 0xfb) == 0x48 && code[1] == LOAD && (code[2] & 7) == 7;
    bool from_value = BEGINS(code, size, 0x31, 0xc0, 0x83, 0xfe, 0x01); /* musl: 0 becomes 1 */
    return (from_first || from_value) && moves_kept(code, size, LOAD) ? "longjmp" : NULL;
}

bool x86_64_raise_is_system_call(const u8 *code, size_t size) {
    return BEGINS(code, size, 0x0f, 0x05);
}

bool x86_64_raise_starts_thread(u64 number) {
    return number == CALL_CLONE || number == CALL_CLONE3;
}
