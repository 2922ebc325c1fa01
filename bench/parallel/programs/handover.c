/* handover.c: a producer and a consumer with a small ring between them, which sleep by futexes. One thread does both in turns. */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "team.h"

enum { ITEMS = 500000, SLOTS = 256, STEPS = 300 };

static uint64_t slots[SLOTS];
static uint32_t written, taken, sleepers; /* counts of items; who waits for a change of one of them */

static void wait_while(uint32_t *word, uint32_t value) {
    for (int i = 0; i < 100 && __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; i++)
        continue;
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
        return;
    __atomic_fetch_add(&sleepers, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    __atomic_fetch_sub(&sleepers, 1, __ATOMIC_SEQ_CST);
}

static void advance(uint32_t *word) {
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static uint64_t ponder(uint64_t x) {
    for (int k = 0; k < STEPS; k++)
        x = team_mix(x);
    return x;
}

static void produce(uint32_t i) {
    while (i - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) == SLOTS)
        wait_while(&taken, i - SLOTS);
    slots[i % SLOTS] = ponder(i);
    advance(&written);
}

static uint64_t consume(uint32_t i) {
    wait_while(&written, i);
    uint64_t x = slots[i % SLOTS];
    advance(&taken);
    return ponder(x + 1);
}

static void work(Member *m) {
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (m->index == 0)
            produce(i);
        if (m->index == m->count - 1)
            m->result += consume(i);
    }
}

int main(int argc, char **argv) {
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv) > 1 ? 2 : 1, work));
    return 0;
}
