/* threads.c: many handles in many threads; handles that come and go; functions called where they were not made. */
#include <binopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "subjects.h"

enum { THREADS = 6, ROUNDS = 4 };

static bool specialize(BinoptHandle handle, int by) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)divide);
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, (size_t)by);
    __typeof__(&divide) d = (__typeof__(&divide))binopt_spec_create(cfg);
    __typeof__(&divide) again = (__typeof__(&divide))binopt_spec_create(cfg);
    cfg = binopt_cfg_new(handle, (BinoptFunc)callbacks);
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT64, BINOPT_TY_PTR, BINOPT_TY_INT64, BINOPT_TY_INT64);
    binopt_cfg_set_parami(cfg, 1, (size_t)by);
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, by & 1);
    __typeof__(&callbacks) c = (__typeof__(&callbacks))binopt_spec_create(cfg);
    bool right = d == again && d(1000, by) == 1000 / by && c(eight, by, 5) == callbacks(eight, by, 5);
    binopt_spec_delete(handle, (BinoptFunc)c);
    binopt_spec_delete(handle, (BinoptFunc)d);
    right &= again(1000, by) == 1000 / by;
    if (by & 1)
        binopt_spec_delete(handle, (BinoptFunc)again);
    return right;
}

static void *work(void *arg) {
    int first = *(int *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        BinoptHandle handle = binopt_init(), other = binopt_init();
        bool right = specialize(handle, first + round) && specialize(other, 3) && specialize(handle, 3);
        binopt_fini(handle);
        right = right && specialize(other, first + round + 1);
        binopt_fini(other);
        if (!right)
            return (void *)1;
    }
    return NULL;
}

int main(void) {
    pthread_t thread[THREADS];
    int first[THREADS], failures = 0;
    for (int i = 0; i < THREADS; i++) {
        first[i] = 2 + i / 2;
        pthread_create(&thread[i], NULL, work, &first[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failures += result != NULL;
    }
    printf("%d of %d threads failed\n", failures, THREADS);
    return failures != 0;
}
