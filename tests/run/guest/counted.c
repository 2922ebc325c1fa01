/* counted.c: loops that go around as often as is known before they begin: by steps of all sizes, up and down, over memory that overlaps, and with an end that is
 * stepped over, so that they go on until an access faults. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE __attribute__((noinline))

enum { COUNT = 1000, SPARE = 64 };

typedef struct Triple {
    int64_t a, b, c;
} Triple;

static uint8_t bytes[COUNT + SPARE];
static uint16_t halves[COUNT + SPARE];
static uint32_t words[COUNT + SPARE];
static uint64_t longs[COUNT + SPARE];
static float floats[COUNT + SPARE];
static double doubles[COUNT + SPARE];
static Triple triples[COUNT + SPARE];

static ALONE void fill(void) {
    for (int i = 0; i < COUNT + SPARE; i++) {
        bytes[i] = (uint8_t)(i * 7), halves[i] = (uint16_t)(i * 77), words[i] = (uint32_t)i * 777777;
        longs[i] = (uint64_t)i * 0x9e3779b97f4a7c15, floats[i] = (float)i / 3, doubles[i] = i / 7.0;
        triples[i] = (Triple){i, -i, i * 3};
    }
}

static ALONE uint64_t digest(void) {
    static const struct {
        const void *at;
        size_t size;
    } all[] = {{bytes, sizeof(bytes)},   {halves, sizeof(halves)},   {words, sizeof(words)},    {longs, sizeof(longs)},
               {floats, sizeof(floats)}, {doubles, sizeof(doubles)}, {triples, sizeof(triples)}};
    uint64_t sum = 14695981039346656037u;
    for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
        for (size_t i = 0; i < all[k].size; i++)
            sum = (sum ^ ((const uint8_t *)all[k].at)[i]) * 1099511628211u;
    return sum;
}

#define ADDS(name, type)                                                                                               \
    static ALONE void name(type *to, const type *from, const type *end, type value) {                                  \
        for (; from != end; from++, to++)                                                                              \
            *to = (type)(*to + *from * value);                                                                         \
    }
ADDS(add_bytes, uint8_t)
ADDS(add_halves, uint16_t)
ADDS(add_words, uint32_t)
ADDS(add_longs, uint64_t)
ADDS(add_floats, float)
ADDS(add_doubles, double)

static ALONE void add_triples(Triple *at, const Triple *end, int64_t value) {
    for (; at != end; at++)
        at->b += at->a ^ value;
}

static ALONE void every_third(uint32_t *at, uint32_t count, uint32_t value) {
    for (uint32_t i = 0; i != count; i += 3)
        at[i] += value;
}

static ALONE void downwards(uint64_t *at, const uint64_t *begin) {
    for (; at != begin; at--)
        at[-1] += at[0];
}

static ALONE uint64_t sum_to(const uint32_t *at, long count) {
    uint64_t sum = 0;
    for (long i = 0; i < count; i++)
        sum += at[i];
    return sum;
}

static ALONE int count_less(const double *at, const double *end, double limit) {
    int count = 0;
    for (; at < end; at++)
        count += *at < limit;
    return count;
}

static ALONE void until(volatile uint64_t *at, const volatile uint64_t *end) {
    for (; at != end; at++)
        *at = 1;
}

static ALONE void until_plain(uint64_t *at, const uint64_t *end, uint64_t value) {
    for (; at != end; at++)
        *at += value;
}

static void lengths(void) {
    for (int n = 0; n < SPARE; n++) {
        add_bytes(bytes, bytes + 100, bytes + 100 + n, 3);
        add_halves(halves, halves + 100, halves + 100 + n, 5);
        add_words(words, words + 100, words + 100 + n, 7);
        add_longs(longs, longs + 100, longs + 100 + n, 9);
        add_floats(floats, floats + 100, floats + 100 + n, 0.5f);
        add_doubles(doubles, doubles + 100, doubles + 100 + n, 0.25);
        add_triples(triples, triples + n, n);
        every_third(words, (uint32_t)n * 3, 11);
        downwards(longs + n, longs);
    }
    printf("lengths %llx\n", (unsigned long long)digest());
}

/* What is written is read some rounds later. */
static void overlaps(void) {
    for (int apart = 1; apart < 40; apart++) {
        add_bytes(bytes + apart, bytes, bytes + COUNT, 3);
        add_words(words + apart, words, words + COUNT, 1);
        add_doubles(doubles + apart, doubles, doubles + COUNT, 0.001);
        add_longs(longs, longs + apart, longs + COUNT, 1);
    }
    printf("overlaps %llx\n", (unsigned long long)digest());
}

/* A child that steps over the end and dies where the memory ends; what it has written until then is seen. */
static void beyond(const char *name, int back, void (*loop)(uint64_t *, const uint64_t *)) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = 4 * page;
    uint8_t *memory = mmap(NULL, all + page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + all, page, PROT_NONE);
    int status;
    if (!fork()) {
        loop((uint64_t *)memory, (uint64_t *)(memory + page - back));
        _exit(1);
    }
    wait(&status);
    size_t written = 0;
    for (size_t i = 0; i < all; i += 8)
        written += *(uint64_t *)(memory + i) == 1;
    printf("%s: signal %d, all %d\n", name, WIFSIGNALED(status) ? WTERMSIG(status) : 0, written * 8 == all);
    munmap(memory, all + page);
}

static void in_order(uint64_t *at, const uint64_t *end) {
    until(at, end);
}

static void plain(uint64_t *at, const uint64_t *end) {
    until_plain(at, end, 1);
}

int main(void) {
    fill();
    lengths();
    overlaps();
    printf("sums %llu %d\n", (unsigned long long)sum_to(words, COUNT), count_less(doubles, doubles + COUNT, 1e3));
    printf("none %llu %d\n", (unsigned long long)sum_to(words, 0), count_less(doubles, doubles, 1e3));
    fflush(stdout);
    beyond("in order", 3, in_order);
    beyond("plain", 3, plain);
    return 0;
}
