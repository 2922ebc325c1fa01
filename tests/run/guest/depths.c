/* depths.c: calls that go deep, in a thread: they return, or are left by longjmp; on the way down and up there are system calls and operations that are rounded upwards. */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

enum { LEVELS = 100000, STACK_BYTES = 64 << 20, CALL_EVERY = 10000, TIMES = 5 };

static __thread jmp_buf back;
static volatile double third = 1, by = 3;

__attribute__((noinline)) static double down(int level, int leave_at) {
    volatile double here = third / by + level;
    if (level % CALL_EVERY == 0 && getppid() < 0)
        return -1;
    if (level == leave_at)
        longjmp(back, 1);
    double below = level < LEVELS ? down(level + 1, leave_at) : 0;
    return below + here * (level & 1 ? -1 : 1);
}

static void *run(void *result) {
    volatile double sum = 0;
    fesetround(FE_UPWARD);
    for (volatile int i = 0; i < TIMES; i++) {
        if (!setjmp(back))
            down(0, LEVELS - 1 - i * 1000);
        sum += down(0, -1) + down(LEVELS - 20 - i, -1);
    }
    *(double *)result = sum;
    return NULL;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_t thread[2];
    double result[3];
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], &attributes, run, &result[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    printf("%a %a\n", result[0], result[1]);
    return 0;
}
