/* phoenix.h: what the kernels of this folder share.
 *
 * They are the eight kernels of Phoenix (Ranger et al., "Evaluating MapReduce for Multi-core and Multiprocessor Systems", HPCA 2007; Yoo
 * et al., "Phoenix Rebirth", IISWC 2009), written anew from what these papers say of them: the sources of Phoenix 2.0 were not at hand, and
 * nothing is copied. Input is made in memory from random numbers that are the same everywhere, in place of files.
 *
 *     PROGRAM SIZE THREADS     THREADS 0: all in one call and without pthread, as the sequential versions of Phoenix do it
 */
#ifndef PHOENIX_H
#define PHOENIX_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 16 };

typedef struct Part {
    long begin, end; /* of the input */
    int index;
    void *job;
} Part;

static inline uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static inline void *make_room(size_t bytes) {
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p)
        exit(2);
    return p;
}

static inline long argument(int argc, char **argv, int i, long usual) {
    return argc > i ? atol(argv[i]) : usual;
}

/* Calls `work` for each part of `count` pieces of input, in threads of their own if there are any; the number of parts. */
static inline int work_on_parts(void *(*work)(void *), void *job, long count, int threads) {
    static Part parts[PARTS_MAX];
    pthread_t ids[PARTS_MAX];
    int n = threads < 1 ? 1 : threads > PARTS_MAX ? PARTS_MAX : threads;
    for (int i = 0; i < n; i++)
        parts[i] = (Part){count * i / n, count * (i + 1) / n, i, job};
    if (!threads) {
        work(&parts[0]);
        return 1;
    }
    for (int i = 0; i < n; i++)
        if (pthread_create(&ids[i], NULL, work, &parts[i]))
            exit(2);
    for (int i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    return n;
}

#endif
