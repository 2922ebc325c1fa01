/* waiting.c: loops that wait for what another process writes. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Shared {
    int flag, other;
} Shared;

static void set_later(volatile Shared *s) {
    s->flag = 0;
    if (!fork()) {
        usleep(50000);
        s->flag = 1;
        _exit(0);
    }
}

/* The counter is on the stack: what is stored there has nothing to do with what is waited for. */
static __attribute__((noinline)) long count_until_seen(volatile Shared *s) {
    volatile long turns[40];
    for (turns[0] = 0; !s->flag; turns[0]++)
        ;
    return turns[0];
}

/* A loop that only computes in one that waits, both with the same beginning. */
static __attribute__((noinline)) long compute_until_seen(volatile Shared *s) {
    long left = 100, turns = 0, hash = 1;
again:
    hash = hash * 1664525 + left;
    if (--left)
        goto again;
    turns++;
    left = 100;
    if (!s->flag)
        goto again;
    return hash ? turns : 0;
}

/* What is counted decides when the loop ends, and what is waited for decides what is counted. */
static __attribute__((noinline)) long step_while_seen(volatile Shared *s, const volatile int *a, long steps) {
    long turns = 0, sum = 0;
    do {
        if (s->flag) {
            sum += a[turns & 63];
            steps--;
        }
        turns++;
    } while (steps);
    return sum ? 0 : turns;
}

int main(void) {
    static int none[64];
    volatile Shared *s = mmap(0, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    set_later(s);
    while (!s->flag)
        ;
    printf("seen %d\n", s->flag);
    wait(NULL);
    set_later(s);
    while (!s->flag)
        __asm__ volatile("" ::: "memory");
    printf("seen %d\n", s->flag);
    wait(NULL);
    set_later(s);
    for (int i = 0; i < 3; i++) { /* a loop that waits inside of one that stores */
        while (!s->flag && !s->other)
            ;
        s->other = i;
    }
    printf("seen %d %d\n", s->flag, s->other);
    wait(NULL);
    set_later(s);
    printf("seen after some turns: %d\n", count_until_seen(s) > 0);
    wait(NULL);
    set_later(s);
    printf("seen while computing: %d\n", compute_until_seen(s) > 0);
    wait(NULL);
    set_later(s);
    printf("seen in steps: %d\n", step_while_seen(s, none, 1000) >= 1000);
    wait(NULL);
    return 0;
}
