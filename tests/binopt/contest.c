/* contest.c: versions of a function compete (src/binopt/choice): the fastest wins, whatever is passed, wherever calls come from and however they end.
 *
 * The versions here do the same work more or less often, far enough apart for a busy machine; nothing waits for a time, but for so many calls as are more
 * than enough. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <x86intrin.h>

#include "binopt/choice/choice.h"

enum { LITTLE = 20, MUCH = 400, ENOUGH_CALLS = 50000000, THREADS = 4 };

static int failures;
static Places places;

static void check(bool holds, const char *what, int line) {
    if (holds)
        return;
    printf("contest.c:%d: %s\n", line, what);
    __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}
#define CHECK_THAT(holds) check(holds, #holds, __LINE__)

__attribute__((noinline)) static u64 spend(u64 rounds) {
    for (u64 i = 0; i < rounds; i++)
        __asm__ volatile("" : "+r"(rounds));
    return rounds;
}

/* ------------------------------------------------------------------------------------------------------------- the fastest */

static u64 slow(u64 x) {
    return x + spend(MUCH) - MUCH;
}
static u64 fast(u64 x) {
    return x + spend(LITTLE) - LITTLE;
}
static u64 middle(u64 x) {
    return x + spend(MUCH / 4) - MUCH / 4;
}
typedef u64 Plain(u64 x);

/* Calls until it is decided. */
static int play(const Door *door, const Contest *c) {
    Plain *f = (Plain *)door_address(door);
    for (u64 i = 0; i < ENOUGH_CALLS && contest_winner(c) == CONTEST_OPEN; i++)
        if (f(i) != i)
            check(false, "a wrong result", __LINE__);
    return contest_winner(c);
}

static void test_fastest(void) {
    BinoptFunc orders[][3] = {{fast, slow, middle}, {slow, fast, middle}, {middle, slow, fast}};
    for (int i = 0; i < 3; i++) {
        Door door = {0};
        CHECK_THAT(door_make(&door, &places, (u64)fast));
        Contest *c = contest_begin(&door, orders[i], 3);
        CHECK_THAT(play(&door, c) == i);
        /* Others, and two of them. */
        BinoptFunc two[] = {slow, middle};
        contest_begin_again(c, two, 2);
        CHECK_THAT(contest_winner(c) == CONTEST_OPEN && play(&door, c) == 1);
        CHECK_THAT(((Plain *)door_address(&door))(7) == 7);
        door_free(&door);
        contest_free(c);
    }
}

/* ------------------------------------------------------------------------------------------------------------- arguments */

#define ALL_KINDS                                                                                                      \
    long a, long b, long c, long d, long e, long f, double g, double h, double i, double j, double k, double l,        \
        double m, double n, long o, double p, long q
static double sum_slowly(ALL_KINDS) {
    spend(MUCH);
    return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) + g + 2 * h + 3 * i + 4 * j + 5 * k + 6 * l + 7 * m +
           8 * n + (double)(9 * o) + 10 * p + (double)(11 * q);
}
static double sum_fast(ALL_KINDS) {
    spend(LITTLE);
    return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) + g + 2 * h + 3 * i + 4 * j + 5 * k + 6 * l + 7 * m +
           8 * n + (double)(9 * o) + 10 * p + (double)(11 * q);
}

static void test_arguments(void) {
    Door door = {0};
    CHECK_THAT(door_make(&door, &places, (u64)sum_fast));
    Contest *c = contest_begin(&door, (BinoptFunc[]){sum_slowly, sum_fast}, 2);
    double (*f)(ALL_KINDS) = (double (*)(ALL_KINDS))door_address(&door);
    for (int x = 0; x < 1000000 && contest_winner(c) == CONTEST_OPEN; x++) {
        double made = f(x, 2, 3, x, 5, 6, 0.5, x, 2.5, 3.5, 4.5, x, 6.5, 7.5, x, 8.5, x);
        CHECK_THAT(made == sum_fast(x, 2, 3, x, 5, 6, 0.5, x, 2.5, 3.5, 4.5, x, 6.5, 7.5, x, 8.5, x));
    }
    CHECK_THAT(contest_winner(c) == 1);
    door_free(&door);
    contest_free(c);
}

/* As many as a register al says are in vector registers. */
static double variable_slow(int count, ...) {
    va_list list;
    va_start(list, count);
    double sum = (double)(spend(MUCH) - MUCH);
    for (int i = 0; i < count; i++)
        sum = 2 * sum + va_arg(list, double);
    va_end(list);
    return sum;
}
static double variable_fast(int count, ...) {
    va_list list;
    va_start(list, count);
    double sum = (double)(spend(LITTLE) - LITTLE);
    for (int i = 0; i < count; i++)
        sum = 2 * sum + va_arg(list, double);
    va_end(list);
    return sum;
}

static void test_variable(void) {
    Door door = {0};
    CHECK_THAT(door_make(&door, &places, (u64)variable_fast));
    Contest *c = contest_begin(&door, (BinoptFunc[]){variable_slow, variable_fast}, 2);
    double (*f)(int, ...) = (double (*)(int, ...))door_address(&door);
    for (int x = 0; x < 1000000 && contest_winner(c) == CONTEST_OPEN; x++)
        CHECK_THAT(f(4, 1.0, 2.0, 3.0, (double)x) == 22.0 + x);
    CHECK_THAT(contest_winner(c) == 1);
    door_free(&door);
    contest_free(c);
}

/* Whole vectors of 32 bytes. */
__attribute__((target("avx"))) static __m256d wide_slow(__m256d a, __m256d b) {
    spend(MUCH);
    return _mm256_add_pd(a, b);
}
__attribute__((target("avx"))) static __m256d wide_fast(__m256d a, __m256d b) {
    return _mm256_add_pd(a, b);
}
__attribute__((target("avx"))) static void test_wide(void) {
    Door door = {0};
    CHECK_THAT(door_make(&door, &places, (u64)wide_fast));
    Contest *c = contest_begin(&door, (BinoptFunc[]){wide_slow, wide_fast}, 2);
    __m256d (*f)(__m256d, __m256d) = (__m256d(*)(__m256d, __m256d))door_address(&door);
    for (int x = 0; x < 1000000 && contest_winner(c) == CONTEST_OPEN; x++) {
        double sum[4];
        _mm256_storeu_pd(sum, f(_mm256_set_pd(x, 2, 3, 4), _mm256_set_pd(10, 20, x, 40)));
        CHECK_THAT(sum[3] == x + 10 && sum[2] == 22 && sum[1] == x + 3 && sum[0] == 44);
    }
    CHECK_THAT(contest_winner(c) == 1);
    door_free(&door);
    contest_free(c);
}

/* ----------------------------------------------------------------------------------------------------- calls of other kinds */

static jmp_buf out;
static u64 leave_slowly(u64 x) {
    spend(MUCH);
    longjmp(out, (int)x);
}
static u64 leave_fast(u64 x) {
    spend(LITTLE);
    longjmp(out, (int)x);
}

/* Calls that never return are counted like others. */
static void test_longjmp(void) {
    Door door = {0};
    CHECK_THAT(door_make(&door, &places, (u64)leave_fast));
    Contest *c = contest_begin(&door, (BinoptFunc[]){leave_slowly, leave_fast}, 2);
    for (volatile int i = 0; i < 1000000 && contest_winner(c) == CONTEST_OPEN; i++)
        if (!setjmp(out))
            ((Plain *)door_address(&door))(1);
    CHECK_THAT(contest_winner(c) == 1);
    door_free(&door);
    contest_free(c);
}

static Plain *again;
static u64 deep_slow(u64 x) {
    spend(MUCH);
    return x ? 1 + again(x - 1) : 0;
}
static u64 deep_fast(u64 x) {
    return x ? 1 + again(x - 1) : 0;
}

/* A function that calls itself through the door. */
static void test_recursion(void) {
    Door door = {0};
    CHECK_THAT(door_make(&door, &places, (u64)deep_fast));
    Contest *c = contest_begin(&door, (BinoptFunc[]){deep_slow, deep_fast}, 2);
    again = (Plain *)door_address(&door);
    for (int i = 0; i < 1000000 && contest_winner(c) == CONTEST_OPEN; i++)
        CHECK_THAT(again(20) == 20);
    CHECK_THAT(contest_winner(c) == 1);
    door_free(&door);
    contest_free(c);
}

typedef struct Shared {
    Door door;
    Contest *contest;
} Shared;

static void *call_much(void *user) {
    const Shared *s = user;
    play(&s->door, s->contest);
    return NULL;
}

/* Others call while it is decided, and while it begins again. */
static void test_threads(void) {
    Shared s = {0};
    pthread_t threads[THREADS];
    CHECK_THAT(door_make(&s.door, &places, (u64)fast));
    s.contest = contest_begin(&s.door, (BinoptFunc[]){slow, fast, middle}, 3);
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, call_much, &s);
        contest_begin_again(s.contest, (BinoptFunc[]){middle, slow, fast}, 3);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        CHECK_THAT(play(&s.door, s.contest) >= 0);
    }
    door_free(&s.door);
    contest_free(s.contest);
}

/* --------------------------------------------------------------------------------------------------------------- choices */

static u32 released;
static void release(void *self, BinoptFunc version) {
    (void)self;
    (void)version;
    released++;
}

static void test_choices(void) {
    Choices choices = {.release = release};
    BinoptCfg *cfg = config_new(NULL, (u64)fast);
    char text[100];
    BinoptFunc slower[] = {slow, middle};
    enum { MANY_BYTES = 1000 };
    Plain *f = (Plain *)choice_offer(&choices, &places, cfg, slower, 2, MANY_BYTES);
    CHECK_THAT((BinoptFunc)f != slower[0] && f != fast);
    CHECK_THAT((Plain *)choice_offer(&choices, &places, cfg, slower, 2, MANY_BYTES) == f && released == 2);
    choice_reason(&choices, (BinoptFunc)f, text, sizeof(text));
    CHECK_THAT(!*text);
    CHECK_THAT(play(&choices.list.at[0].door, choices.list.at[0].contest) == 2 && f(3) == 3);
    choice_reason(&choices, (BinoptFunc)f, text, sizeof(text));
    CHECK_THAT(!strcmp(text, CHOICE_LOST));
    CHECK_THAT(choice_base(&choices, (u64)f) == (u64)slow && choice_base(&choices, (u64)slow) == (u64)slow);
    choice_release(&choices, (BinoptFunc)f);
    choice_release(&choices, (BinoptFunc)f);
    CHECK_THAT(released == 2 && f(3) == 3); /* it is somebody's base */
    choice_free_all(&choices);
    CHECK_THAT(released == 4);
    cfg->always = true;
    CHECK_THAT(choice_offer(&choices, &places, cfg, slower, 2, MANY_BYTES) == slower[0] && released == 5);
    config_free(cfg);
}

/* A process that must not look at the time has no contests. */
static void test_no_time(void) {
    Door door = {0};
    CHECK_THAT(door_make(&door, &places, (u64)fast));
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    Contest *c = contest_begin(&door, (BinoptFunc[]){slow, fast}, 2);
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    CHECK_THAT(!c);
    door_free(&door);
}

int main(void) {
    test_fastest();
    test_arguments();
    test_variable();
    if (__builtin_cpu_supports("avx"))
        test_wide();
    test_longjmp();
    test_recursion();
    test_threads();
    test_choices();
    test_no_time();
    places_free(&places);
    printf("%d failures\n", failures);
    return failures != 0;
}
