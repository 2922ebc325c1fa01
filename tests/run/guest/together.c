/* together.c: threads that come to new code at the same moment, again and again, while it is written anew each time. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 3, ROUNDS = 400, JUMPS = 100, SPACING = 16 };

static unsigned char *code;
static atomic_int round_now, done;
static long sums[THREADS];

/* Not asleep when it happens, if there are processors enough. */
static void pause_at(int *turns) {
    if (++*turns % 1000)
        __builtin_ia32_pause();
    else
        sched_yield();
}

/* A chain of jumps, each of which is new to whoever comes first, and at its end: mov $value, %eax; ret. */
static void write_code(int value) {
    memset(code, 0xcc, JUMPS * SPACING);
    for (int i = 0; i < JUMPS; i++) {
        int distance = SPACING - 5;
        code[i * SPACING] = 0xe9;
        memcpy(code + i * SPACING + 1, &distance, 4);
    }
    unsigned char *end = code + JUMPS * SPACING;
    end[0] = 0xb8;
    memcpy(end + 1, &value, 4);
    end[5] = 0xc3;
}

static void *follow(void *arg) {
    long me = (long)arg;
    int turns = 0;
    for (int i = 1; i <= ROUNDS; i++) {
        while (round_now < i)
            pause_at(&turns);
        sums[me] += ((int (*)(void))code)();
        done++;
    }
    return NULL;
}

int main(void) {
    pthread_t id[THREADS];
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, follow, (void *)i);
    for (int i = 1; i <= ROUNDS; i++) {
        write_code(i);
        round_now = i;
        while (done < i * THREADS)
            sched_yield();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        printf("%ld\n", sums[i]);
    }
    return 0;
}
