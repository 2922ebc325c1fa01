/* tiered.c: what comes back at once works, before and after the specialised version is there. */
#include <binopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "subjects.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __typeof__(&subtract) make(BinoptHandle handle, int by) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)subtract);
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, (size_t)by);
    __typeof__(&subtract) made = (__typeof__(&subtract))binopt_spec_create(cfg);
    binopt_cfg_free(cfg);
    return made;
}

int main(void) {
    setenv("BINOPT_DRIVER", "tiered", 1);
    BinoptHandle handle = binopt_init();
    __typeof__(&subtract) made[20];
    for (int i = 0; i < 20; i++)
        made[i] = make(handle, i);
    bool right = true, swapped = false;
    /* With another value than the fixed one the two versions can be told apart. */
    for (double start = now(); !swapped && now() - start < 60;) {
        for (int i = 0; i < 20; i++)
            right &= made[i](50, i) == 50 - i;
        swapped = made[19](50, 0) == 50 - 19;
    }
    for (int i = 0; i < 20; i++)
        right &= made[i] != subtract && made[i](50, i) == 50 - i;
    binopt_fini(handle);

    handle = binopt_init(); /* functions that go before, while and after they are made */
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
