/* jump_subjects.c: see jump_subjects.h. Interpreters with the operations acc += x, acc *= 3, acc ^= y, acc -= x * y, and the end. */
#include "jump_subjects.h"

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

/* `next` goes on at the next operation. */
#define OPERATIONS(next)                                                                                               \
    add:                                                                                                               \
    acc += x;                                                                                                          \
    next;                                                                                                              \
    triple:                                                                                                            \
    acc *= 3;                                                                                                          \
    next;                                                                                                              \
    flip:                                                                                                              \
    acc ^= y;                                                                                                          \
    next;                                                                                                              \
    less:                                                                                                              \
    acc -= x * y;                                                                                                      \
    next;                                                                                                              \
    end:                                                                                                               \
    return acc
#define LABELS &&add, &&triple, &&flip, &&less, &&end

long threaded_table(const void *program, long x, long y) {
    static const void *const label[] = {LABELS};
    const unsigned char *pc = program;
    long acc = 1;
    goto *label[*pc++];
    OPERATIONS(goto * label[*pc++]);
}

long threaded_offsets(const void *program, long x, long y) {
    static const int label[] = {&&add - &&add, &&triple - &&add, &&flip - &&add, &&less - &&add, &&end - &&add};
    const unsigned char *pc = program;
    long acc = 1;
    goto *(&&add + label[*pc++]);
    OPERATIONS(goto * (&&add + label[*pc++]));
}

long threaded_directly(const void *program, long x, long y) {
    static const void *const label[] = {LABELS};
    const void *const *pc = program;
    long acc = 1;
    if (!pc)
        return (long)label;
    goto **pc++;
    OPERATIONS(goto * *pc++);
}

static APART long threaded_apart(const void *program, long x, long y) {
    static const void *const label[] = {LABELS};
    const unsigned char *pc = program;
    long acc = 7;
    goto *label[*pc++];
    OPERATIONS(goto * label[*pc++]);
}

long calls_threaded(const void *program, long x, long y) {
    return threaded_apart(program, x + 1, y) + threaded_apart(program, x, y + 1);
}

static APART long twisted(long acc, long by) {
    return (acc << 7) - by;
}

long threaded_with_calls(const void *program, long x, long y) {
    static const void *const label[] = {LABELS};
    const unsigned char *pc = program;
    long acc = 1;
    goto *label[*pc++];
    OPERATIONS(acc = twisted(acc, y); goto * label[*pc++]);
}

/* All of it is reached without the computed jump. */
long one_label(const void *program, long x, long y) {
    static const void *const label[] = {&&again, &&again, &&again, &&again, &&end};
    const unsigned char *pc = program;
    long acc = x;
    if (y == 12345)
        goto end;
again:
    acc = acc * 5 + y;
    goto *label[*pc++];
end:
    return acc;
}

#define CASES(next)                                                                                                    \
    case OP_ADD:                                                                                                       \
        acc += x;                                                                                                      \
        next;                                                                                                          \
    case OP_TRIPLE:                                                                                                    \
        acc *= 3;                                                                                                      \
        next;                                                                                                          \
    case OP_FLIP:                                                                                                      \
        acc ^= y;                                                                                                      \
        next;                                                                                                          \
    case OP_LESS:                                                                                                      \
        acc -= x * y;                                                                                                  \
        next;                                                                                                          \
    case OP_END:                                                                                                       \
        return acc

long switched(const void *program, long x, long y) {
    long acc = 1;
    for (const unsigned char *pc = program;;)
        switch (*pc++) {
            CASES(continue);
        default:
            return -1;
        }
}

/* The compiler is told that there are no other operations: nothing compares. */
long switched_openly(const void *program, long x, long y) {
    long acc = 1;
    for (const unsigned char *pc = program;;)
        switch (*pc++) {
            CASES(continue);
        default:
            __builtin_unreachable();
        }
}

/* The operation is compared in one place, and goes to another one from there. */
long switched_twice(const void *program, long x, long y) {
    const unsigned char *pc = program;
    long acc = 1;
    int op = *pc++;
    for (;;) {
        if (op > OP_END)
            return -op;
        acc += op;
        op = *pc++;
        switch (op) {
            CASES(break);
        default:
            __builtin_unreachable();
        }
    }
}

/* An interpreter whose operation is compared with 1 only after it was done, and after two of them: the table has five entries, not two. */
__asm__(".text\n"
        ".globl bound_of_another\n"
        ".type bound_of_another, @function\n"
        "bound_of_another:\n"
        ".cfi_startproc\n"
        "    mov $1, %r11d\n"
        "    jmp 2f\n"
        "1:  cmp $1, %ecx\n"
        "    ja 6f\n"
        "2:  movzbl (%rdi), %ecx\n"
        "    inc %rdi\n"
        "    test %ecx, %ecx\n"
        "    je 3f\n"
        "    lea 8f(%rip), %r9\n"
        "    movslq (%r9,%rcx,4), %r10\n"
        "    add %r9, %r10\n"
        "    jmp *%r10\n"
        "3:  add %rsi, %r11\n"
        "    jmp 1b\n"
        "4:  lea (%r11,%r11,2), %r11\n"
        "    jmp 1b\n"
        "5:  xor %rdx, %r11\n"
        "    jmp 2b\n"
        "6:  mov %r11, %rax\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size bound_of_another, . - bound_of_another\n"
        ".section .rodata\n"
        ".balign 4\n"
        "8:  .long 3b - 8b, 4b - 8b, 5b - 8b, 5b - 8b, 6b - 8b\n"
        ".text\n");

long calls_last(const void *program, long x, long y) {
    Jumping *const *f = program;
    return (*f)(f + 1, x * 3 + y, y ^ x);
}

long calls_last_of_two(const void *program, long x, long y) {
    Jumping *const *f = program;
    return (x & 1 ? f[0] : f[1])(f + 1, x >> 1, y + x);
}

long last_step(const void *program, long x, long y) {
    return program ? x * 31 - y : 0;
}

long calls_first(const void *program, long x, long y) {
    Jumping *const *f = program;
    return 3 * f[0](program, x, y) + y;
}

APART static long sum_of_calls(Jumping *const *f, long x, long y) {
    long sum = 0;
    for (int i = 0; i < 4; i++)
        sum += f[0](f, x + i, y) ^ i;
    return sum;
}

long calls_inside(const void *program, long x, long y) {
    return sum_of_calls(program, x, y) + 2 * sum_of_calls(program, y, x);
}
