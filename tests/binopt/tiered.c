/* tiered.c: what comes back at once works, before and after the version of *llvm* is there, and comes back soon. */
#include <binopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "subjects.h"

static const double LONGEST_SECONDS = 0.3e-3;

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void) {
    return seconds_of(CLOCK_MONOTONIC);
}

static __typeof__(&subtract) make(BinoptHandle handle, int by) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)subtract);
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, (size_t)by);
    __typeof__(&subtract) made = (__typeof__(&subtract))binopt_spec_create(cfg);
    binopt_cfg_free(cfg);
    return made;
}

/* The jump that a function is, which leads elsewhere when the version of *llvm* is there. */
static uint64_t jump_of(__typeof__(&subtract) made) {
    return __atomic_load_n((const uint64_t *)made, __ATOMIC_ACQUIRE);
}

/* All are called all the time while they are exchanged by another thread. */
static bool test_exchange(bool *exchanged) {
    enum { COUNT = 20 };
    BinoptHandle handle = binopt_init();
    __typeof__(&subtract) made[COUNT];
    uint64_t jump[COUNT];
    bool right = true;
    int done = 0;
    for (int i = 0; i < COUNT; i++) {
        made[i] = make(handle, i);
        jump[i] = jump_of(made[i]);
    }
    for (double start = now(); done < COUNT && now() - start < 60;) {
        done = 0;
        for (int i = 0; i < COUNT; i++) {
            right &= made[i] != subtract && made[i](50, i) == 50 - i;
            done += jump_of(made[i]) != jump[i];
        }
    }
    for (int i = 0; i < COUNT; i++)
        right &= made[i](50, i) == 50 - i;
    *exchanged = done >= COUNT - 1; /* the last one may have been there before it was looked at */
    binopt_fini(handle);
    return right;
}

/* CPU time of the caller, the best of a few; what *trace* would take too long for begins with the original. */
static bool test_time(BinoptFunc function, unsigned count, unsigned fixed, size_t value) {
    double best = 1;
    for (int i = 0; i < 9; i++) {
        BinoptHandle handle = binopt_init();
        BinoptCfgRef cfg = binopt_cfg_new(handle, function);
        binopt_cfg_type(cfg, count, BINOPT_TY_INT64, BINOPT_TY_INT64, BINOPT_TY_INT64, BINOPT_TY_INT64);
        binopt_cfg_set_parami(cfg, fixed, value + (size_t)i);
        double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        binopt_spec_create(cfg);
        double took = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
        best = took < best ? took : best;
        binopt_fini(handle);
    }
    if (best > LONGEST_SECONDS)
        printf("%.3f ms for a function\n", best * 1e3);
    return best <= LONGEST_SECONDS;
}

int main(void) {
    setenv("BINOPT_DRIVER", "tiered", 1);
    bool swapped, right = test_exchange(&swapped);
    right &= test_time((BinoptFunc)subtract, 2, 1, 7);
    right &= test_time((BinoptFunc)hash, 3, 1, 100); /* a loop that becomes long */
    right &= test_time((BinoptFunc)local_array, 2, 0, 50);
    right &= test_time((BinoptFunc)sort_by, 3, 1, 40);
    right &= test_time((BinoptFunc)format_numbers, 3, 1, 100);

    BinoptHandle handle = binopt_init(); /* functions that go before, while and after they are made */
    for (int i = 0; i < 200; i++) {
        __typeof__(&subtract) one = make(handle, i % 30);
        right &= one(50, i % 30) == 50 - i % 30;
        if (i % 3)
            nanosleep(&(struct timespec){.tv_nsec = i * 10000}, NULL);
        binopt_spec_delete(handle, (BinoptFunc)one);
    }
    __typeof__(&subtract) kept = make(handle, 7);
    right &= kept(50, 7) == 43;
    binopt_fini(handle);

    handle = binopt_init(); /* finished with work left to do */
    for (int i = 0; i < 20; i++)
        right &= make(handle, 100 + i)(50, 100 + i) == -50 - i;
    binopt_fini(handle);
    printf("%s, %s, %s\n", binopt_driver(), right ? "right" : "wrong", swapped ? "swapped" : "never swapped");
    return !right || !swapped;
}
