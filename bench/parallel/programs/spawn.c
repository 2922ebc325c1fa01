/* spawn.c: threads that live for a fraction of a millisecond, started and waited for by the members. */
#include "team.h"

enum { THREADS = 4000, STEPS = 60000 };

static void *task(void *arg) {
    uint64_t x = (uint64_t)arg;
    for (int k = 0; k < STEPS; k++)
        x = team_mix(x);
    return (void *)x;
}

static void work(Member *m) {
    long end = team_first(m, m->index + 1, THREADS);
    for (long i = team_first(m, m->index, THREADS); i < end; i++) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, task, (void *)i))
            abort();
        pthread_join(thread, &result);
        m->result += (uint64_t)result;
    }
}

int main(int argc, char **argv) {
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv), work));
    return 0;
}
