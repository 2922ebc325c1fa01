/* team.h: what the programs of this benchmark share. Each does the same work whatever its argument, the number of threads, and prints the
 * same result. Also with one thread it is one that was started: what differs is only how many there are. */
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEAM_MAX = 64 };

typedef struct Member {
    int index, count;
    uint64_t result;
    void (*work)(struct Member *);
    pthread_t thread;
} Member;

static inline uint64_t team_mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The first of `all` items that are this member's; those up to the next one's first are. */
static inline long team_first(const Member *m, int index, long all) {
    return all * index / m->count;
}

static inline int team_size(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1;
    return count < 1 || count > TEAM_MAX ? 1 : count;
}

static void *team_start(void *arg) {
    Member *m = arg;
    m->work(m);
    return NULL;
}

/* The sum of the results, when all have ended. */
static inline uint64_t team_run(int count, void (*work)(Member *)) {
    Member members[TEAM_MAX];
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        members[i] = (Member){.index = i, .count = count, .work = work};
        if (pthread_create(&members[i].thread, NULL, team_start, &members[i]))
            abort();
    }
    for (int i = 0; i < count; i++) {
        pthread_join(members[i].thread, NULL);
        sum += members[i].result;
    }
    return sum;
}

#endif
