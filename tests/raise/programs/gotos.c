/* Computed gotos: through tables of labels, through addresses in memory, and among functions that have none. */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

typedef struct Op {
    const void *label;
    long operand;
} Op;

enum { PUSH, ADD, SWAP, JUMP_IF, PRINT, DUP, SUB, END };

/* The labels are put into the program first, as threaded interpreters do. */
APART static long interpret(Op *program, long limit) {
    static const void *const labels[] = {&&push, &&add, &&swap, &&jump_if, &&print, &&dup, &&sub, &&end};
    long stack[32], *top = stack, steps = 0, t;
    if (limit < 0) { /* so many instructions */
        for (Op *op = program; limit < 0; op++, limit++)
            op->label = labels[(long)op->label];
        return 0;
    }
    Op *at = program;
#define NEXT                                                                                                           \
    if (++steps > limit)                                                                                               \
        return -1;                                                                                                     \
    goto * at->label
    NEXT;
push:
    *++top = at++->operand;
    NEXT;
add:
    top[-1] += top[0];
    top--;
    at++;
    NEXT;
sub:
    top[-1] -= top[0];
    top--;
    at++;
    NEXT;
swap:
    t = top[0];
    top[0] = top[-1];
    top[-1] = t;
    at++;
    NEXT;
dup:
    top[1] = top[0];
    top++;
    at++;
    NEXT;
jump_if:
    t = *top--;
    at = t ? program + at->operand : at + 1;
    NEXT;
print:
    printf("%ld ", *top);
    at++;
    NEXT;
end:
    return steps * 1000 + *top;
}

APART static int states(const char *text) {
    void *state = &&begin;
    int words = 0, numbers = 0;
    for (;; text++) {
        if (!*text)
            return words * 100 + numbers;
        goto *state;
    begin:
        if (*text >= '0' && *text <= '9') {
            numbers++;
            state = &&number;
        } else if (*text != ' ') {
            words++;
            state = &&word;
        }
        continue;
    number:
    word:
        if (*text == ' ')
            state = &&begin;
    }
}

/* The code at each label takes the address of the next one, and nobody else does. */
APART static int steps(int count) {
    void *volatile next = &&first;
    int sum = 0;
again:
    sum = sum * 3 + 1;
    goto *next;
first:
    sum += 5;
    next = &&second;
    goto again;
second:
    sum += 7;
    next = count & 1 ? &&third : &&last;
    goto again;
third:
    sum ^= 9;
    next = &&last;
    goto again;
last:
    return sum;
}

static long twice(long x) {
    return 2 * x;
}
static long square(long x) {
    return x * x;
}
static long (*const functions[])(long) = {twice, square, labs};

/* Ends with a jump to a function. */
APART static long apply(int which, long x) {
    return functions[which](x + 1);
}

int main(void) {
    Op program[] = {{(void *)PUSH, 10}, {(void *)DUP, 0},  {(void *)PRINT, 0}, {(void *)PUSH, 3},     {(void *)SUB, 0},
                    {(void *)DUP, 0},   {(void *)PUSH, 1}, {(void *)ADD, 0},   {(void *)JUMP_IF, 10}, {(void *)END, 0},
                    {(void *)PUSH, 2},  {(void *)SWAP, 0}, {(void *)SUB, 0},   {(void *)PRINT, 0},    {(void *)END, 0}};
    interpret(program, -(long)(sizeof(program) / sizeof(*program)));
    printf("%ld\n", interpret(program, 1000));
    printf("%ld\n", interpret(program, 5));
    printf("%d\n", states("one 2 three 44 five5 6x"));
    printf("%d %d\n", steps(0), steps(1));
    printf("%ld %ld %ld\n", apply(0, 4), apply(1, 5), apply(2, -8));
    return 0;
}
