/* pool.c: workers that take tasks from a queue with a mutex and conditions; the first thread fills it. */
#include "team.h"

enum { TASKS = 60000, SLOTS = 64, STEPS = 5000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static uint64_t queue[SLOTS];
static long put_count, got_count;

static void put(uint64_t task) {
    pthread_mutex_lock(&lock);
    while (put_count - got_count == SLOTS)
        pthread_cond_wait(&emptied, &lock);
    queue[put_count++ % SLOTS] = task;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static int get(uint64_t *task) {
    pthread_mutex_lock(&lock);
    while (put_count == got_count && put_count < TASKS)
        pthread_cond_wait(&filled, &lock);
    int some = put_count != got_count;
    if (some)
        *task = queue[got_count++ % SLOTS];
    if (got_count == TASKS)
        pthread_cond_broadcast(&filled);
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return some;
}

static void work(Member *m) {
    for (uint64_t x; get(&x);) {
        for (int k = 0; k < STEPS; k++)
            x = team_mix(x);
        m->result += x;
    }
}

static void *fill(void *arg) {
    for (uint64_t i = 0; i < TASKS; i++)
        put(i);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t filler;
    pthread_create(&filler, NULL, fill, NULL);
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv), work));
    pthread_join(filler, NULL);
    return 0;
}
