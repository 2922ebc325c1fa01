/* spec_versions.c: when a function is made again, from what, how long it lives, and whether it is worth it. */
#include <math.h>
#include <sys/mman.h>
#include <time.h>

#include "spec.h"

/* The same again is the same; other memory is not. */
void test_again(void) {
    static int v[] = {1, 2, 3, 4};
    v[0] = 1;
    BinoptCfgRef cfg = configure(sum_array, "lLp");
    binopt_cfg_set_parami(cfg, 0, 4);
    binopt_cfg_set_paramp(cfg, 1, v, sizeof(v), BINOPT_MEM_CONST);
    __typeof__(&sum_array) first = MAKE(cfg, sum_array, NEW), second = MAKE(binopt_cfg_clone(cfg), sum_array, NEW);
    CHECK_THAT(first == second && first(4, v) == 10);
    v[0] = 100;
    second = MAKE(cfg, sum_array, NEW);
    CHECK_THAT(second(4, v) == 109);
    BinoptHandle mine = handle;
    handle = binopt_init();
    __typeof__(&sum_array) other = MAKE(cfg, sum_array, NEW);
    CHECK_THAT(other(4, v) == 109);
    binopt_fini(handle);
    handle = mine;
    CHECK_THAT(second(4, v) == 109);
}

/* With another value than the fixed one a guard leads to what the function was made from, which may have been deleted. */
void test_base(void) {
    BinoptCfgRef cfg = configure(helper_chain, "llll");
    binopt_cfg_set_parami(cfg, 1, 3);
    BinoptFunc first = binopt_spec_create(cfg);
    cfg = configure(first, "llll");
    binopt_cfg_set_parami(cfg, 2, 8);
    binopt_cfg_set(cfg, BINOPT_F_GUARD, 1);
    __typeof__(&helper_chain) second = (__typeof__(&helper_chain))binopt_spec_create(cfg);
    if (second == first)
        return;
    binopt_spec_delete(handle, first);
    BinoptFunc others[8]; /* that would be in its place */
    for (int i = 0; i < 8; i++) {
        cfg = configure(subtract, "iii");
        binopt_cfg_set_parami(cfg, 1, (size_t)(5000 + i));
        others[i] = binopt_spec_create(cfg);
    }
    CHECK_THAT(second(5, 3, 8) == helper_chain(5, 3, 8) && second(5, 3, 9) == helper_chain(5, 3, 9));
    binopt_spec_delete(handle, (BinoptFunc)second);
    for (int i = 0; i < 8; i++)
        binopt_spec_delete(handle, others[i]);
}

/* What could not be written to when it was read, and can be now, is not constant any more. */
void test_permissions(void) {
    long *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = 7;
    page[4] = 5;
    mprotect(page, 4096, PROT_READ);
    BinoptCfgRef cfg = configure(first_and_fifth, "lpl");
    binopt_cfg_set_param(cfg, 0, &page);
    __typeof__(&first_and_fifth) first = MAKE(cfg, first_and_fifth, NEW);
    CHECK_THAT(first(page, 10) == 75);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    __typeof__(&first_and_fifth) second = MAKE(cfg, first_and_fifth, NEW);
    page[4] = 6;
    CHECK_THAT(second(page, 10) == 76);
    binopt_spec_delete(handle, (BinoptFunc)first);
    binopt_spec_delete(handle, (BinoptFunc)second);
    munmap(page, 4096);
}

/* Whatever is allowed, no more is needed than that. */
void test_stack_sizes(void) {
    static const size_t sizes[] = {(size_t)1 << 32, (size_t)1 << 33, ((size_t)1 << 40) + 8, ~(size_t)0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        BinoptCfgRef cfg = configure(local_array, "lii");
        binopt_cfg_set_parami(cfg, 0, 5);
        binopt_cfg_set(cfg, BINOPT_F_STACKSZ, sizes[i]);
        __typeof__(&local_array) l = MAKE(cfg, local_array, NEW);
        CHECK_THAT(l(5, 3) == local_array(5, 3));
    }
}

/* A function goes when it was deleted as often as it was created; its place is used again. */
void test_deletion(void) {
    BinoptCfgRef cfg = configure(subtract, "iii");
    binopt_cfg_set_parami(cfg, 1, 1001);
    __typeof__(&subtract) first = MAKE(cfg, subtract, NEW), second = MAKE(cfg, subtract, NEW);
    CHECK_THAT(first == second);
    binopt_spec_delete(handle, (BinoptFunc)first);
    CHECK_THAT(second(2000, 1001) == 999);
    binopt_spec_delete(handle, (BinoptFunc)second);
    binopt_spec_delete(handle, NULL);
    __typeof__(&subtract) highest = NULL;
    for (int i = 0; i < 3000; i++) {
        __typeof__(&subtract) made = MAKE(cfg, subtract, NEW);
        highest = made > highest ? made : highest;
        if (made(i, 1001) != i - 1001)
            CHECK_THAT(!"the same again");
        binopt_spec_delete(handle, (BinoptFunc)made);
    }
    CHECK_THAT(highest == first);
    /* Others have used the place in between; one is made from another that is gone then. */
    BinoptFunc many[20];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i += 1 + round) {
            void *function = i % 4 ? (void *)subtract : (void *)hash;
            cfg = configure(function, i % 4 ? "iii" : "IpLI");
            binopt_cfg_set_parami(cfg, i % 4 ? 1 : 2, (size_t)i);
            many[i] = MAKE_ANY(cfg, function, NEW);
        }
        for (int i = 0; i < 20; i += 1 + round) {
            if (i % 4)
                CHECK_THAT(((__typeof__(&subtract))many[i])(50, i) == 50 - i);
            else
                CHECK_THAT(((__typeof__(&hash))many[i])((void *)"abc", 3, (unsigned)i) ==
                           hash((void *)"abc", 3, (unsigned)i));
            binopt_spec_delete(handle, many[i]);
        }
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The shortest time that some calls of it take. A busy machine makes times longer, so that of many one is right. */
static double shortest(__typeof__(&sum_array) sum, size_t len, const int *buf) {
    enum { ROUNDS = 1000, CALLS = 50 };
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (int i = 0; i < CALLS; i++)
            sum(len, buf);
        best = fmin(best, seconds() - start);
    }
    return best;
}

/* Where nothing is known there is nothing to gain; where a loop becomes a number there is, and it shows in the time that calls take. */
void test_gain(void) {
    enum { LEN = 100 };
    static int v[LEN];
    if (!may_keep())
        return;
    CHECK_THAT(MAKE(configure(nothing_known, "lll"), nothing_known, SAME)(3, 4) == nothing_known(3, 4));
    for (int i = 0; i < LEN; i++)
        v[i] = i;
    BinoptCfgRef cfg = configure(sum_array, "lLp");
    binopt_cfg_set_parami(cfg, 0, LEN);
    binopt_cfg_set_paramp(cfg, 1, v, sizeof(v), BINOPT_MEM_CONST);
    __typeof__(&sum_array) sum = MAKE(cfg, sum_array, NEW);
    CHECK_THAT(sum != sum_array && sum(LEN, v) == LEN * (LEN - 1) / 2);
    CHECK_THAT(shortest(sum, LEN, v) < 0.75 * shortest(sum_array, LEN, v));
}
