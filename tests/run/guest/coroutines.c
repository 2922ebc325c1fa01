/* coroutines.c: contexts with their own stacks, by makecontext and swapcontext. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { COUNT = 8, ROUNDS = 20000, STACK = 64 << 10 };

typedef struct Routine {
    ucontext_t context;
    long value, seed;
    int done;
} Routine;

static Routine routines[COUNT];
static ucontext_t scheduler;

static void yield(Routine *r, long value) {
    r->value = value;
    swapcontext(&r->context, &scheduler);
}

/* Yields from many depths, so that returns come long after other stacks have run. */
static void descend(Routine *r, int depth) {
    volatile int here = depth;
    if (depth) {
        yield(r, r->seed * depth);
        descend(r, depth - 1);
    }
    yield(r, here);
}

static void body(int index) {
    Routine *r = &routines[index];
    for (int i = 0; i < ROUNDS; i++)
        yield(r, (r->seed = r->seed * 1103515245 % 2147483648 + 12345));
    descend(r, 50 + index);
    r->done = 1;
}

int main(void) {
    for (int i = 0; i < COUNT; i++) {
        Routine *r = &routines[i];
        getcontext(&r->context);
        r->context.uc_stack.ss_sp = malloc(STACK);
        r->context.uc_stack.ss_size = STACK;
        r->context.uc_link = &scheduler;
        r->seed = i;
        makecontext(&r->context, (void (*)(void))body, 1, i);
    }
    unsigned long sum = 0, switches = 0;
    for (int left = COUNT; left;)
        for (int i = 0; i < COUNT; i++) {
            if (routines[i].done)
                continue;
            swapcontext(&scheduler, &routines[i].context);
            switches++;
            sum = sum * 31 + (unsigned long)routines[i].value;
            left -= routines[i].done;
        }
    printf("%lu switches, sum %lu\n", switches, sum);
    return 0;
}
