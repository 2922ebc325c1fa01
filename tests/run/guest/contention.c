/* contention.c: what threads do to the same memory at the same time: no update is lost, and what is waited for is seen.
 *
 * The argument is how often each thread does each thing. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };

static long rounds;
static struct {
    _Alignas(64) long added, swapped, locked, bytes_round;
    _Alignas(64) int word;
    _Alignas(64) uint8_t bytes[8];
    _Alignas(64) uint16_t halves[4];
    _Alignas(64) int spin;
    _Alignas(64) uint64_t bits;
    _Alignas(64) double sum;
} all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long behind_mutex;

/* A loop of load-reserved and store-conditional, or of cmpxchg. */
static void add_double(double *to, double v) {
    uint64_t old, new, *at = (uint64_t *)to;
    double sum;
    do {
        old = __atomic_load_n(at, __ATOMIC_RELAXED);
        __builtin_memcpy(&sum, &old, 8);
        sum += v;
        __builtin_memcpy(&new, &sum, 8);
    } while (!__atomic_compare_exchange_n(at, &old, new, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void with_lock(long number) {
    int expected = 0;
    while (!__atomic_compare_exchange_n(&all.spin, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        expected = 0;
    all.locked += number;
    __atomic_store_n(&all.spin, 0, __ATOMIC_RELEASE);
}

static void *work(void *arg) {
    long me = (long)arg;
    for (long i = 0; i < rounds; i++) {
        __atomic_fetch_add(&all.added, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_sub(&all.word, 3, __ATOMIC_RELAXED);
        __atomic_fetch_add(&all.bytes[me], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&all.halves[me & 1], 1, __ATOMIC_ACQ_REL);
        __atomic_fetch_xor(&all.bits, (uint64_t)1 << (me * 8 + i % 8), __ATOMIC_SEQ_CST);
        add_double(&all.sum, 1);
        with_lock(me + 1);
    }
    for (long i = 0; i < rounds / 8; i++) {
        pthread_mutex_lock(&mutex);
        behind_mutex++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

/* Plain memory, read by loops that also write: nobody says that it changes but `volatile`, and no instruction tells. */
static volatile int turn;
static volatile long seen[2], steps[2];

static void *take_turns(void *arg) {
    int me = (int)(long)arg;
    for (long i = 0; i < rounds / 100; i++) {
        while (turn != me)
            steps[me]++;
        seen[me] = seen[!me] + 1;
        turn = !me;
    }
    return NULL;
}

/* Dekker: without a fence both would get in. */
static int wants[2], inside;
static long broken;

static void *exclude(void *arg) {
    int me = (int)(long)arg;
    for (long i = 0; i < rounds / 10; i++) {
        __atomic_store_n(&wants[me], 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&wants[!me], __ATOMIC_ACQUIRE)) {
            broken += __atomic_exchange_n(&inside, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
        }
        __atomic_store_n(&wants[me], 0, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* What is written before a release is there behind the acquire. */
static struct {
    long payload[4];
    _Alignas(64) long sent;
} mail;
static long torn;

static void *send(void *arg) {
    for (long i = 1; i <= rounds; i++) {
        for (int k = 0; k < 4; k++)
            __atomic_store_n(&mail.payload[k], i, __ATOMIC_RELAXED);
        __atomic_store_n(&mail.sent, i, __ATOMIC_RELEASE);
    }
    return arg;
}

static void *receive(void *arg) {
    for (long got = 0; got < rounds;) {
        got = __atomic_load_n(&mail.sent, __ATOMIC_ACQUIRE);
        for (int k = 0; k < 4; k++)
            torn += __atomic_load_n(&mail.payload[k], __ATOMIC_RELAXED) < got;
    }
    return arg;
}

static void run(void *(*first)(void *), void *(*others)(void *), int count) {
    pthread_t thread[THREADS];
    for (long i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, i ? others : first, (void *)i))
            exit(1);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 200000;
    run(work, work, THREADS);
    printf("added %ld, word %d, locked %ld, sum %.0f, mutex %ld, bits %llx\n", all.added - THREADS * rounds,
           all.word + (int)(3 * THREADS * rounds), all.locked - 10 * rounds, all.sum - (double)(THREADS * rounds),
           behind_mutex - THREADS * (rounds / 8), (unsigned long long)all.bits);
    for (int i = 0; i < 4; i++)
        printf("byte %u half %u\n", (uint8_t)(all.bytes[i] - (uint8_t)rounds),
               (uint16_t)(all.halves[i] - (i < 2 ? (uint16_t)(2 * rounds) : 0)));
    run(take_turns, take_turns, 2);
    printf("turns %ld\n", seen[1]);
    run(exclude, exclude, 2);
    printf("broken %ld\n", broken);
    run(send, receive, 2);
    printf("torn %ld\n", torn);
    return 0;
}
