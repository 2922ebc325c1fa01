/* longjmp.c: jumps out of nested calls, a million times over: no stack may grow by it. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;
static long landed;

__attribute__((noinline)) static void dive(int depth, int value) {
    volatile int here = depth;
    if (depth == 0)
        longjmp(back, value);
    dive(depth - 1, value);
    landed += here; /* never: nobody returns */
}

static long many(int times, int depth) {
    volatile long sum = 0;
    for (volatile int i = 0; i < times; i++) {
        int value = setjmp(back);
        if (value == 0)
            dive(depth, i % 7 + 1);
        sum += value;
    }
    return sum;
}

/* One setjmp, many returns of it. */
static int again(int times) {
    volatile int count = 0;
    setjmp(back);
    count++;
    if (count < times)
        dive(3, 1);
    return count;
}

static jmp_buf outer, inner;

__attribute__((noinline)) static int nested(int which) {
    if (setjmp(inner))
        longjmp(outer, 20 + which);
    if (which)
        longjmp(inner, 1);
    return which;
}

int main(void) {
    printf("%ld\n", many(1000000, 5));
    printf("%ld\n", many(20, 20000));
    printf("%d\n", again(300000));
    int value = setjmp(outer);
    if (value == 0)
        printf("%d\n", nested(nested(0) + 1));
    printf("outer %d, landed %ld, zero is one: %d\n", value, landed, setjmp(back) ? 1 : (longjmp(back, 0), 0));
    return 0;
}
