/* frames.c: what functions have on their stacks, and who else can reach it: nobody, or somebody who was given its address in one of many ways. */
#include <alloca.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))
/* Keeps both the compiler and the translator from knowing what a value is: it goes through one place of memory by two numbers. */
#define HIDE(x)                                                                                                        \
    do {                                                                                                               \
        cells[in_cell] = (uintptr_t)(x);                                                                               \
        __asm__ volatile("" ::: "memory");                                                                             \
        (x) = (__typeof__(x))cells[out_cell];                                                                          \
    } while (0)

enum { WORDS = 64 };

static long data[WORDS], other[WORDS];
static long *published;
static int rounds = 2000;
static uintptr_t cells[4];
static volatile int in_cell = 2, out_cell = 2;

/* ------------------------------------------------------------------------------------------------------------- nobody */

/* Both are in memory for the guest. */
APART static long own(long *p, long n) {
    volatile long step = n, sum = 0;
    for (long i = 0; i < n; i++) {
        p[i] += step;
        sum += p[i] * step;
    }
    return sum;
}

/* The frame, and what the caller has put on the stack for it. */
APART static long many(long a, long b, long c, long d, long e, long f, long g, long h, volatile long i, volatile long j,
                       long *p) {
    volatile long kept = a + b + c + d;
    for (int k = 0; k < 8; k++) {
        *p += kept;
        i += *p;
        kept += i ^ j;
    }
    return kept + e + f + g + h + i + j;
}

APART static long own_array(long n) {
    volatile long a[16];
    for (long i = 0; i < 16; i++)
        a[i] = i * n;
    for (long i = 0, j = 3; i < n; i++, j = (j * 5 + 1) & 15) {
        a[j] += a[i & 15];
        a[i & 15] ^= a[(j + i) & 15];
    }
    long sum = 0;
    for (long i = 0; i < 16; i++)
        sum = sum * 3 + a[i];
    return sum;
}

/* ----------------------------------------------------------------------------------------------------------- somebody */

APART static void change(long *p, long by) {
    *p += by;
}

APART static long by_argument(long n) {
    long local = 1, sum = 0;
    for (long i = 0; i < n; i++) {
        change(&local, i);
        data[i % WORDS] = local;
        sum += local;
    }
    return sum;
}

APART static void change_published(long by) {
    *published ^= by;
}

APART static long by_global(long n) {
    volatile long local = n;
    long sum = 0;
    published = (long *)&local;
    for (long i = 0; i < n; i++) {
        change_published(i);
        sum += local;
    }
    return sum;
}

/* What was given away stays so in the next loop, without a call. */
APART static long by_memory(long **place, long n) {
    volatile long local = 5;
    long sum = 0, *again = (long *)&local;
    *place = again;
    HIDE(again);
    for (long i = 0; i < n; i++) {
        *again += i;
        sum += local;
    }
    return sum;
}

APART static long by_choice(long n, long *elsewhere) {
    long local[4] = {1, 2, 3, 4}, sum = 0;
    for (long i = 0; i < n; i++) {
        long *p = i % 3 ? elsewhere : local;
        HIDE(p);
        p[i & 3] += i;
        sum += local[i & 3];
    }
    return sum;
}

/* One pointer is made from the other by a distance, as compilers do for two arrays in one loop. */
APART static long by_distance(long n, long *elsewhere) {
    volatile long local[8] = {0};
    uintptr_t distance = (uintptr_t)local - (uintptr_t)elsewhere;
    long sum = 0;
    HIDE(distance);
    for (long i = 0; i < n; i++) {
        *(long *)((uintptr_t)&elsewhere[i & 7] + distance) += i;
        sum = sum * 5 + local[i & 7];
    }
    return sum;
}

APART static long by_stack_pointer(long n) {
    volatile long local[4] = {7, 8, 9, 10};
    uintptr_t p;
    long sum = 0;
#ifdef __x86_64__
    __asm__ volatile("mov %%rsp, %0" : "=r"(p));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(p));
#else
    __asm__ volatile("mv %0, sp" : "=r"(p));
#endif
    uintptr_t distance = (uintptr_t)local - p;
    HIDE(p);
    for (long i = 0; i < n; i++) {
        *(volatile long *)(p + distance + 8 * (i & 3)) += i;
        sum += local[(i + 1) & 3];
    }
    return sum;
}

APART static long by_alloca(long n) {
    volatile long before = n;
    long *p = alloca(8 * (n & 15) + 64), sum = 0;
    for (long i = 0; i < 8; i++)
        p[i] = before + i;
    for (long i = 0; i < n; i++) {
        p[i & 7] += before;
        before += p[(i + 3) & 7];
        sum ^= before;
    }
    return sum;
}

static jmp_buf back;

APART static void go_back(long n) {
    if (n % 3 == 0)
        longjmp(back, (int)n + 1);
}

APART static long by_longjmp(long n) {
    volatile long seen = 0, i = 0;
    if (setjmp(back))
        seen += i;
    while (++i < n) {
        data[i % WORDS] ^= seen;
        go_back(i);
    }
    return seen;
}

/* A small function with a frame of its own, for code that has both in one. */
APART static long small(long *p, long n) {
    volatile long local = n;
    p[1] += local;
    local += p[0];
    return local;
}

APART static long in_caller(long n) {
    long local[2] = {n, 1}, sum = 0;
    for (long i = 0; i < n; i++) {
        sum += small(local, i);
        local[0] ^= sum;
        sum += small(local, sum & 7) + local[1];
    }
    return sum;
}

APART static long kept_in_caller(long n) {
    volatile long local = n;
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += small(other, i) + local;
        local ^= sum;
        sum += small(other, local & 7);
    }
    return sum;
}

int main(void) {
    uint64_t hash = 0;
    for (int i = 0; i < rounds; i++) {
        long *place, n = 5 + i % 40;
        const long results[] = {own(data, n),        many(i, n, 3, 4, 5, 6, 7, 8, 9 * i, 10, &other[i % WORDS]),
                                own_array(n),        by_argument(n),
                                by_global(n),        by_memory(&place, n),
                                by_choice(n, other), by_distance(n, other),
                                by_stack_pointer(n), by_alloca(n),
                                by_longjmp(n),       in_caller(n),
                                kept_in_caller(n)};
        for (size_t k = 0; k < sizeof(results) / sizeof(*results); k++) {
            hash = (hash ^ (uint64_t)results[k]) * 0x100000001b3;
            if (i % 400 == 399)
                printf("%ld%c", results[k], k == 12 ? '\n' : ' ');
        }
        for (int k = 0; k < WORDS; k++)
            hash = (hash ^ (uint64_t)data[k] ^ (uint64_t)other[k]) * 0x100000001b3;
    }
    printf("%llx\n", (unsigned long long)hash);
    return 0;
}
